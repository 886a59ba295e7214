"""Taking records away: as a bundle that proves itself, or as a table to read.

Every export is recorded twice: before its first byte, so that nothing leaves without a record, and
when it ends, with what was given, also when the reader goes away in the middle.
"""

import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from django.db import transaction

from toolpolicy.audit import heads, keeping, writer
from toolpolicy.audit.bundles import Bundle
from toolpolicy.audit.unreadable import reading
from toolpolicy.audit.waiting import count_waiting
from toolpolicy.engine.faults import Fault, quantity
from toolpolicy.models import Block, Record
from toolpolicy.models.choices import KeyScope, RecordKind
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.bounds import refuse_bound
from toolpolicy.services.errors import InvalidInput, Refused
from toolpolicy.services.evidence.record_tables import RecordTable
from toolpolicy.services.record_filters import RecordFilter

MOST_COUNTED: Final = 100_000
# Of the log's id and of a filter, the name of a file holds so many characters.
LOG: Final = 8
MOST_SLUG: Final = 80
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_]+")
_PIECE: Final = 64 * 1024
_GZIP: Final = 16 + zlib.MAX_WBITS


class Form(StrEnum):
    """What an export looks like; also how its file's name ends."""

    BUNDLE = "jsonl"
    PACKED = "jsonl.gz"
    TABLE = "csv"


MEDIA: Final[Mapping[Form, str]] = {
    Form.BUNDLE: "application/jsonl",
    Form.PACKED: "application/gzip",
    Form.TABLE: "text/csv",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody takes away. A `complete` bundle proves that nothing was left out of it.

    Making one raises InvalidInput for a complete table.
    """

    wanted: RecordFilter
    form: Form = Form.BUNDLE
    complete: bool = False

    def __post_init__(self) -> None:
        if self.complete and self.form is Form.TABLE:
            message = "a table proves nothing: only a bundle can be complete"
            raise InvalidInput([Fault("/complete", message)])

    @property
    def slug(self) -> str:
        """The filter as a part of a file's name, cut where it is long; nothing for all records."""
        pairs = (f"{name} {value}" for name, value in self.wanted.wire().items())
        return _UNSAFE.sub("-", " ".join(pairs))[:MOST_SLUG].strip("-")

    @property
    def finds_nothing(self) -> bool:
        """Whether there is no record as it is asked for. A query for each time, and one."""
        return not self.wanted.narrow(Record.objects.all()).exists()

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        said = {"format": str(self.form), "complete": self.complete}
        return {**said, "filter": self.wanted.wire()}


class Export:
    """The bytes of an export, to be read once; `close` it, so that its end is recorded.

    Reading raises Unreadable where the database holds what it cannot: `audit verify` says what.
    `waiting` counts the records that are not in it because they could not be sealed.
    """

    def __init__(self, asked: Asked, begun: Record, actor: Actor, origin: Origin) -> None:
        self.asked = asked
        self.waiting = count_waiting(MOST_COUNTED, up_to=begun)
        self.size = 0
        self._by = (begun, actor, origin)
        self._seen = hashlib.sha256()
        self._open = True
        self._source = _source(asked, actor)
        self._pieces = _pieces(self._source.lines(), packed=asked.form is Form.PACKED)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many lines of each type were made so far: `record`, `other`, `block`."""
        return self._source.counts

    @property
    def name(self) -> str:
        """What to call its file: by the log, when it was begun, and what was asked for."""
        begun, *_ = self._by
        parts = ("records", heads.log_id()[:LOG], f"{begun.at:%Y%m%d-%H%M%S}", self.asked.slug)
        return f"{'-'.join(filter(None, parts))}.{self.asked.form}"

    @property
    def content_type(self) -> str:
        """What HTTP says of its bytes."""
        charset = "; charset=utf-8" if self.asked.form is Form.TABLE else ""
        return MEDIA[self.asked.form] + charset

    @property
    def digest(self) -> str:
        """Of the bytes given so far."""
        return f"sha256:{self._seen.hexdigest()}"

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        try:
            with reading():
                piece = next(self._pieces)
        except StopIteration:
            self._end(whole=True)
            raise
        self._seen.update(piece)
        self.size += len(piece)
        return piece

    def close(self) -> None:
        """Record the end, if it was not reached: the reader went away, or it failed."""
        self._end(whole=False)

    def _end(self, *, whole: bool) -> None:
        if self._open:
            self._open = False
            _record_end(self, whole, *self._by)


def begin(*, actor: Actor, asked: Asked, origin: Origin = NOWHERE) -> Export:
    """Record that somebody takes records away, seal what waits, and return what is given.

    Raise Refused when the actor may not (`export_refused`, and as `refuse_bound` does) or nothing
    can be sealed (`nothing_sealed`).
    """
    refuse_bound(actor)
    if asked.form not in forms_for(actor):
        raise Refused("export_refused", "this needs the right to read records and their texts")
    begun = _record_begin(asked, actor, origin)
    keeping.seal_now()
    if not Block.objects.exists():
        message = "nothing is sealed yet, and it cannot be: see `manage.py audit seal`"
        raise Refused("nothing_sealed", message)
    return Export(asked, begun, actor, origin)


def forms_for(actor: Actor) -> tuple[Form, ...]:
    """Return what somebody may take: a table has no texts, a bundle has what callers sent."""
    if actor.client is not None:
        return tuple(Form) if KeyScope.AUDIT_READ in actor.client.held else ()
    if not actor.may("view_record"):
        return ()
    return tuple(Form) if actor.may("view_recordbody") else (Form.TABLE,)


def _source(asked: Asked, actor: Actor) -> Bundle | RecordTable:
    if asked.form is Form.TABLE:
        return RecordTable(asked.wanted)
    return Bundle(wanted=asked.wanted, complete=asked.complete, made_by=actor.label)


def _pieces(lines: Iterator[bytes], *, packed: bool) -> Iterator[bytes]:
    """Yield lines in pieces that are worth sending."""
    pack = zlib.compressobj(wbits=_GZIP) if packed else None
    held = bytearray()
    for line in lines:
        held += pack.compress(line) if pack else line
        if len(held) >= _PIECE:
            yield bytes(held)
            held.clear()
    held += pack.flush() if pack else b""
    if held:
        yield bytes(held)


# --- records of it -------------------------------------------------------------------------------


def _record_begin(asked: Asked, actor: Actor, origin: Origin) -> Record:
    summary = f"begins to take records away as {asked.form}: {asked.wanted.words}"
    said = {"action": "export_begun", "summary": summary}
    return _record(said, asked, actor, origin, about="begun")


def _record_end(export: Export, whole: bool, begun: Record, actor: Actor, origin: Origin) -> None:  # noqa: FBT001
    given = f"{quantity(export.counts['record'], 'record')}, {quantity(export.size, 'byte')}"
    end = "" if whole else ", and did not read to the end"
    what = f"{export.asked.form} ({export.asked.wanted.words})"
    said = {
        "action": "export_records",
        "summary": f"took records away as {what}: {given}{end}",
        "begun": str(begun.uid),
        "finished": whole,
        "count": export.counts["record"],
        "others": export.counts["other"],
        "blocks": export.counts["block"],
        "waiting": export.waiting,
        "size": export.size,
        "digest": export.digest,
    }
    _record(said, export.asked, actor, origin, about=given)


@transaction.atomic
def _record(
    said: Mapping[str, Any], asked: Asked, actor: Actor, origin: Origin, *, about: str
) -> Record:
    who = {"actor": actor.wire(), "origin": origin.wire()}
    index = writer.RecordIndex(
        actor_label=actor.label,
        object_label=f"records as {asked.form}: {about}",
        request_id=origin.request_id,
    )
    body = {**said, **who, "export": asked.wire()}
    return writer.write(kind=RecordKind.EXPORT, body=body, index=index, client=actor.client)
