"""What no block covers: records that wait to be sealed, numbers of writers, texts of nobody."""

import hashlib
from typing import Any, Final

from django.db.models import Count, Exists, F, Max, OuterRef, Q

from toolpolicy.audit import gaps
from toolpolicy.audit.headers import moment
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.verification import contradictions
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.reading import Loose, loose
from toolpolicy.audit.waiting import SETTLED, spans
from toolpolicy.models import Block, Leaf, Record, RecordBody

_SEVERAL: Final = 100
_BEFORE_ALL: Final = -(2**63)


def judge(verdict: Verdict) -> None:
    """Judge what a walk over the blocks does not see."""
    try:
        with reading():
            if _check_writers(verdict):
                _check_doubles(verdict, "writer_id", "writer_n")
            _check_uids(verdict)
            _check_waiting(verdict)
            _check_texts(verdict)
    except Unreadable as error:
        verdict.find(Kind.ALTERED, f"a record that is not sealed cannot be read: {error}")


def _check_writers(verdict: Verdict) -> bool:
    """Find numbers that no record has: deleted before they were sealed.

    Tell whether there is a number that several records have.
    """
    own = Record.objects.order_by().values("writer_id")
    told = own.annotate(
        last=Max("writer_n"), different=Count("writer_n", distinct=True), all=Count("pk")
    )
    odd = told.filter(Q(different__lt=F("last")) | Q(different__lt=F("all")))
    doubled = False
    for writer, last, different, count in odd.values_list("writer_id", "last", "different", "all"):
        doubled = doubled or different < count
        for gap in gaps.gaps_of(writer, last) if different < (last or 0) else ():
            message = "records {1} to {2} of the writer {0} are gone".format(*gap)
            verdict.find(Kind.MISSING, message)
    return doubled


def _check_uids(verdict: Verdict) -> None:
    counted = Record.objects.aggregate(all=Count("pk"), different=Count("uid", distinct=True))
    # To count them is much less work than to tell which.
    if counted["different"] < counted["all"]:
        _check_doubles(verdict, "uid")


def _check_doubles(verdict: Verdict, *names: str) -> None:
    doubles = Record.objects.order_by().values(*names).annotate(n=Count("pk")).filter(n__gt=1)
    for double in doubles.values(*names)[:_SEVERAL]:
        said = " ".join(map(str, double.values()))
        verdict.find(Kind.DUPLICATED, f"the record {said} is there twice", seq=_place(double))


def _place(double: dict[str, Any]) -> int | None:
    """Return the number under which a record is sealed that is there twice."""
    rows = Record.objects.filter(**double).values("pk")
    return (
        Leaf.objects.filter(record__in=rows).order_by("seq").values_list("seq", flat=True).first()
    )


def _check_waiting(verdict: Verdict) -> None:
    """Find records that are not sealed though they say they are older than sealed ones."""
    newest = Block.objects.order_by("-number").values_list("at", flat=True).first()
    since = moment(newest - SETTLED) if newest else ""
    for one in loose():
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


def _check_texts(verdict: Verdict) -> None:
    """Find texts without a record."""
    nobodys = RecordBody.objects.filter(pk__isnull=True).values_list("pk", flat=True)
    found = list(nobodys[:_SEVERAL])
    for first, last in spans(_BEFORE_ALL, RecordBody):
        record = Record.objects.filter(pk=OuterRef("pk"), pk__range=(first, last))
        alone = RecordBody.objects.filter(~Exists(record), pk__gte=first, pk__lte=last)
        found += alone.order_by("pk").values_list("pk", flat=True)[: _SEVERAL - len(found)]
        if len(found) == _SEVERAL:
            break
    for row in found:
        verdict.find(Kind.INSERTED, f"there is a text for row {row}, which is no record")
