"""What no block covers: records that wait to be sealed, texts of nobody."""

import hashlib
from collections.abc import Iterable
from typing import Final

from django.db.models import Exists, OuterRef

from toolpolicy.audit.headers import moment
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.verification import contradictions
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.reading import Ids, Loose, Seen, loose, unseen
from toolpolicy.audit.waiting import SETTLED, spans
from toolpolicy.models import Block, Record, RecordBody

_SEVERAL: Final = 100


def judge(verdict: Verdict, seen: Iterable[Seen]) -> None:
    """Judge what a walk over the blocks has not seen."""
    where = list(unseen(seen))
    try:
        with reading():
            _check_waiting(verdict, where)
            _check_texts(verdict, where)
    except Unreadable as error:
        verdict.find(Kind.ALTERED, f"a record that is not sealed cannot be read: {error}")


def _check_waiting(verdict: Verdict, where: Iterable[Ids]) -> None:
    """Find records that are not sealed though they say they are older than sealed ones."""
    newest = Block.objects.order_by("-number").values_list("at", flat=True).first()
    since = moment(newest - SETTLED) if newest else ""
    for one in loose(where):
        said = contradictions.columns(one.header)
        name = f"the record {said.get('uid')} (row {one.row}), not sealed yet,"
        if str(said.get("at")) < since:
            message = f"{name} says it is older than what is sealed"
            verdict.find(Kind.INSERTED, message)
        fault = _fault(one)
        if fault:
            verdict.find(fault[0], f"{name} {fault[1]}")


def _fault(one: Loose) -> tuple[Kind, str] | None:
    if one.text is None:
        return Kind.MISSING, "has no text"
    if one.text_hash != hashlib.sha256(b"\x00" + one.text).hexdigest().encode():
        return Kind.ALTERED, "has another text than its hash says"
    names = contradictions.against_envelope(one.header, one.text)
    return (Kind.ALTERED, f"is not what its text says ({', '.join(names)})") if names else None


def _check_texts(verdict: Verdict, where: Iterable[Ids]) -> None:
    """Find texts without a record."""
    nobodys = RecordBody.objects.filter(pk__isnull=True).values_list("pk", flat=True)
    found = list(nobodys[:_SEVERAL])
    parts = (part for begin, end in where for part in spans(begin - 1, RecordBody, end=end))
    for first, last in parts:
        record = Record.objects.filter(pk=OuterRef("pk"), pk__range=(first, last))
        alone = RecordBody.objects.filter(~Exists(record), pk__gte=first, pk__lte=last)
        found += alone.order_by("pk").values_list("pk", flat=True)[: _SEVERAL - len(found)]
        if len(found) == _SEVERAL:
            break
    for row in found:
        verdict.find(Kind.INSERTED, f"there is a text for row {row}, which is no record")
