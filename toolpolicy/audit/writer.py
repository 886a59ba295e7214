"""The only writer of records (DESIGN "A decision, step by step").

A record's canonical text is written in the transaction of what it tells about, with the SHA-256 of
its bytes, and a number from its writer. A writer is one connection to the database; its numbers
have no gaps, so a missing one proves a deletion even before records are sealed.
"""

import hashlib
import secrets
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Max, Model
from django.utils import timezone

from toolpolicy.audit.background import keep_in_background
from toolpolicy.audit.commitments import MASKED, Hidden, hide
from toolpolicy.audit.headers import moment
from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.masking import Spot
from toolpolicy.models import ApiClient, MaskedValue, Record, RecordBody, RuleUsage
from toolpolicy.models.choices import RecordKind

ENVELOPE: Final = frozenset({"v", "id", "kind", "at", "writer"})
"""Members of every text."""
_OURS: Final = ENVELOPE | {MASKED}
_SLOT: Final = "toolpolicy_writer"
# Decisions and listings ask with what they read anyway; a refusal is told of any key.
_ASKED_ELSEWHERE: Final = frozenset(
    (RecordKind.DECISION, RecordKind.SIMULATION, RecordKind.LISTING, RecordKind.REFUSED)
)


class KeyRevoked(Exception):
    """The API key that does something was revoked since it was recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordIndex:
    """Copies to filter by. The text is what counts: a copy longer than its column is cut."""

    surface: str = ""
    outcome: str = ""
    reason_code: str = ""
    family: str = ""
    tool: str = ""
    agent: str = ""
    channel: str = ""
    session: str = ""
    layer: str = ""
    rule: str = ""
    policy_version: int | None = None
    actor_label: str = ""
    object_label: str = ""
    request_id: str = ""
    idempotency_key: str = ""
    request_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Usage:
    """One use of a rule, counted in the hour of the record."""

    layer: str
    rule: str
    family: str
    tool: str
    outcome: str


NO_INDEX: Final = RecordIndex()
_COUNT_SQL: Final = (
    "INSERT INTO toolpolicy_ruleusage (hour, layer, rule, family, tool, outcome, shard, count)"
    " VALUES {rows} ON CONFLICT (hour, layer, rule, family, tool, outcome, shard)"
    " DO UPDATE SET count = toolpolicy_ruleusage.count + excluded.count"
)


def write(
    *,
    kind: str,
    body: Mapping[str, Any],
    index: RecordIndex = NO_INDEX,
    client: ApiClient | None = None,
    usage: Sequence[Usage] = (),
    spots: Sequence[Spot] = (),
) -> Record:
    """Write one record, its body and its usage counts: three statements (two without usage).

    One more asks about the key of `client`; raise `KeyRevoked` where it does not stand any more.

    `spots` are the places of the body that the text does not show: commitments stand there, and
    one more statement keeps the values apart. None may stand inside another.

    `body` is any JSON object; the members of `ENVELOPE` are added to it, and `masked`, the list of
    what the text does not show, where that is something. Raise ValueError when it has one of those
    or holds what JSON cannot, RuntimeError outside a transaction. When several records share a
    transaction, give all usage to the last one: counts lock rows until the commit, and one sorted
    statement cannot deadlock with another.
    """
    _check_key(client, kind)
    uid, at, writer = uuid.uuid4(), timezone.now(), _writer_of(connections[DEFAULT_DB_ALIAS])
    place = {"id": writer.id, "n": (number := writer.next_number())}
    shown, hidden = _shown(body, spots)
    text = _text(shown, v=1, id=str(uid), kind=kind, at=moment(at), writer=place)
    record = Record.objects.create(
        uid=uid,
        kind=kind,
        at=at,
        writer_id=writer.id,
        writer_n=number,
        leaf_hash=leaf_hash(text),
        client=client,
        client_key_id=client.key_id if client else "",
        **_copies(Record, index),
    )
    writer.given(number)
    RecordBody.objects.create(record=record, text=text)
    _keep_apart(record, hidden)
    _count(usage, at, writer)
    return record


def _check_key(client: ApiClient | None, kind: str) -> None:
    if client is None or kind in _ASKED_ELSEWHERE:
        return
    if ApiClient.objects.filter(pk=client.pk, revoked_at__isnull=False).exists():
        raise KeyRevoked(client.key_id)


def leaf_hash(text: str) -> str:
    """Return the hex SHA-256 of a zero byte and the UTF-8 bytes of `text` (as RFC 6962 leaves)."""
    return hashlib.sha256(b"\x00" + text.encode()).hexdigest()


def _shown(
    body: Mapping[str, Any], spots: Sequence[Spot]
) -> tuple[Mapping[str, Any], Sequence[Hidden]]:
    taken = _OURS & body.keys()
    if taken:
        msg = f"the body of a record may not have the member `{min(taken)}`"
        raise ValueError(msg)
    return hide(body, spots) if spots else (body, ())


def _keep_apart(record: Record, hidden: Sequence[Hidden]) -> None:
    if hidden:
        MaskedValue.objects.bulk_create(
            MaskedValue(record=record, **one.columns()) for one in hidden
        )


def _text(body: Mapping[str, Any], **envelope: Any) -> str:
    return dumps({**body, **envelope})


def _copies(model: type[Model], copies: RecordIndex | Usage) -> dict[str, Any]:
    """Return what the columns can hold: cut, and without what PostgreSQL's text refuses."""
    values: dict[str, Any] = {}
    for name in (copy.name for copy in fields(copies)):
        value = getattr(copies, name)
        if isinstance(value, str):
            length = getattr(model, name).field.max_length
            value = value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")[:length]
        values[name] = value
    return values


def _count(usage: Sequence[Usage], at: datetime, writer: "_Writer") -> None:
    if not usage:
        return
    database = writer.database
    counts = Counter(Usage(**_copies(RuleUsage, use)) for use in usage)
    hour = at.replace(minute=0, second=0, microsecond=0)
    moment = database.ops.adapt_datetimefield_value(hour)
    # In one order everywhere, so that two transactions never wait for each other.
    rows = [(moment, *astuple(use), writer.shard, count) for use, count in sorted(counts.items())]
    values = ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s)"] * len(rows))
    with database.cursor() as cursor:
        cursor.execute(_COUNT_SQL.format(rows=values), [value for row in rows for value in row])


# --- numbers -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Writer:
    """The numbers of one connection.

    A record's commit hook settles its number. As long as the last one is not settled, Django's list
    of hooks tells whether its record still stands: a rollback, of the transaction or of an `atomic`
    block inside it, drops the hooks with the rows. Where the hook is gone and did not run (after a
    rollback, or while other hooks of the same commit run), the table is asked. A savepoint made by
    hand, past `atomic`, would drop rows and no hooks: no record may be written inside one.
    """

    database: BaseDatabaseWrapper
    session: Any  # the driver's connection: a re-opened one is another writer
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    last: int = 0
    unsettled: Callable[[], None] | None = None

    @property
    def shard(self) -> int:
        """The shard of counts that this connection adds to."""
        return int(self.id[:8], 16) % RuleUsage.SHARDS

    def next_number(self) -> int:
        """Return the number after the last record that stands."""
        hook = self.unsettled
        if hook and not any(entry[1] is hook for entry in reversed(self.database.run_on_commit)):
            stored = Record.objects.filter(writer_id=self.id).aggregate(last=Max("writer_n"))
            self.last, self.unsettled = stored["last"] or 0, None
        return self.last + 1

    def given(self, number: int) -> None:
        """Note that a record with this number was inserted."""

        def settle() -> None:
            if self.unsettled is settle:
                self.unsettled = None
            keep_in_background()

        self.last, self.unsettled = number, settle
        transaction.on_commit(settle, using=self.database.alias)


def _writer_of(database: BaseDatabaseWrapper) -> _Writer:
    if not database.in_atomic_block:
        raise RuntimeError("a record is written in the transaction of what it tells about")
    writer: _Writer | None = vars(database).get(_SLOT)
    if writer is None or writer.session is not database.connection:
        writer = vars(database)[_SLOT] = _Writer(database, database.connection)
    return writer
