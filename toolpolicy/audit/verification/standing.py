"""What counts now, held against what records of changes say of it: all of it is rows.

Proven are, as far as texts are kept and somebody looks again:
- the live version: number and digest of its document (`live`), as the newest publication says; the
  digests of registry, settings and masking in the state; what documents these name;
- freezes that stand: kind, value, reason, until; that one was lifted;
- legal holds that stand: name, reason, filter; that one was lifted;
- API keys that may be used: id, name, owner's name, scopes, pinned context, expires_at; that one
  was revoked.

Not proven, for no record says it: the hash of a key's secret, when it was made or used last, the
link to its owner; who placed or lifted something, and when, as its row says it. A text that is no
longer kept proves nothing, and a log that tells of nothing of a sort proves nothing of that sort.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple

from django.db.models import Model, Q
from django.utils import timezone

from toolpolicy.audit.verification import live
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.told import Difference, Told, Wire, member, told
from toolpolicy.engine.faults import shown
from toolpolicy.engine.reading import time_text
from toolpolicy.models import ApiClient, Freeze, LegalHold
from toolpolicy.models.choices import RecordKind

_AT_ONCE: Final = 500


class Sort(NamedTuple):
    """A sort of things that stand until they are ended, and how rows and records speak of it.

    `columns` has for each member of a text the column that repeats it, `id` first. `ended` is the
    column that says when one was ended, `runs_out` the member that says when one ends by itself.
    """

    what: str
    kind: RecordKind
    member: str
    model: type[Model]
    columns: Mapping[str, str]
    runs_out: str = ""
    ended: str = "lifted_at"
    ends: str = "lift"
    done: str = "lifted"


SORTS: Final = (
    Sort(
        what="freeze",
        kind=RecordKind.FREEZE,
        member="freeze",
        model=Freeze,
        columns={"id": "pk"} | {name: name for name in ("kind", "value", "reason", "until")},
        runs_out="until",
    ),
    Sort(
        what="hold",
        kind=RecordKind.HOLD,
        member="hold",
        model=LegalHold,
        columns={"id": "pk"} | {name: name for name in ("name", "reason", "filter")},
    ),
    Sort(
        what="key",
        kind=RecordKind.KEY,
        member="key",
        model=ApiClient,
        columns={"id": "key_id", "owner": "owner_label"}
        | {name: name for name in ("name", "scopes", "pinned_context", "expires_at")},
        ended="revoked_at",
        runs_out="expires_at",
        ends="revoke_key",
        done="revoked",
    ),
)


def check(verdict: Verdict) -> None:
    """Tell of what does not say what records say. Raise Unreadable by Django.

    Others write meanwhile. So what seems to differ is looked at once more, and told when it still
    says what it said.
    """
    seen = {one.seen for one in _differences()}
    if seen:
        for one in _differences():
            if one.seen in seen:
                verdict.find(one.kind, one.message, seq=one.seq)


def _differences() -> Iterator[Difference]:
    yield from live.differences()
    for sort in SORTS:
        yield from _of_sort(sort, timezone.now())


def _of_sort(sort: Sort, now: datetime) -> Iterator[Difference]:
    running = Q(**{f"{sort.ended}__isnull": True})
    if sort.runs_out:
        end = sort.columns[sort.runs_out]
        running &= Q(**{f"{end}__isnull": True}) | Q(**{f"{end}__gt": now})
    rows = list(_rows(sort, running))
    standing = {row.key: row for row in rows}
    history = _History(sort, now, standing)
    for one in told(sort.kind):
        history.read(one)
    for row in rows:
        if standing[row.key] is not row:
            yield Difference(Kind.DUPLICATED, f"{row.name} is there twice")
    yield from history.untold()
    yield from history.compared()


class _Row(NamedTuple):
    """A row: what its columns say, as a text would, and when it was ended."""

    key: str
    name: str
    label: str
    values: Wire
    ended: datetime | None


def _rows(sort: Sort, which: Q) -> Iterator[_Row]:
    found = sort.model._default_manager.filter(which).order_by("pk")  # noqa: SLF001  (Django's own)
    for *values, ended in found.values_list(*sort.columns.values(), sort.ended):
        said = dict(zip(sort.columns, map(_wire, values), strict=True))
        said["id"] = str(said["id"])
        yield _Row(said["id"], _name(sort, said), _label(sort, said), said, ended)


def _wire(value: Any) -> Any:
    return time_text(value) if isinstance(value, datetime) else value


def _name(sort: Sort, said: Wire) -> str:
    named = f"of the {said['kind']} {shown(said['value'])}" if "value" in said else None
    return f"the {sort.what} {named or shown(said['name'])} ({said['id']})"


def _label(sort: Sort, said: Wire) -> str:
    """Return what a record's column says that it is about: that outlives the text."""
    label = f"{said['kind']} {said['value']}" if sort.what == "freeze" else said["name"]
    return str(label).replace("\0", "\\0")[:200]


class _Said(NamedTuple):
    """What the records say of one thing, by the last of them."""

    by: Told
    values: Wire
    ended: bool


@dataclass(slots=True)
class _History:
    """What the records of a sort say in the end.

    Kept is what stands by them or by its row: what is over by both costs no memory.
    """

    sort: Sort
    now: datetime
    rows: Mapping[str, _Row]
    told: dict[str, _Said] = field(default_factory=dict)
    any: bool = False
    lost: set[str] = field(default_factory=set)
    """Labels of standing rows that a record is about whose text is gone."""

    def read(self, one: Told) -> None:
        """Take in what a record says."""
        said = member(one.text, self.sort.member)
        if one.text is None or said is None or not self.sort.columns.keys() <= said.keys():
            self._lose(one)
            return
        self.any = True
        key, ended = str(said["id"]), one.text.get("action") == self.sort.ends
        before = self.told.get(key)
        # Ended is ended, whatever else is said.
        if before is not None and before.ended:
            return
        if key in self.rows or not (ended or self._is_over(said)):
            self.told[key] = _Said(one.without_text(), said, ended)
        else:
            self.told.pop(key, None)

    def _is_over(self, said: Wire) -> bool:
        end = said[self.sort.runs_out] if self.sort.runs_out else None
        return end is not None and datetime.fromisoformat(end) <= self.now

    def _lose(self, one: Told) -> None:
        """Forget what a record may have ended of which nobody knows any more what it said."""
        if any(row.label == one.label for row in self.rows.values()):
            self.lost.add(one.label)
        for key, said in list(self.told.items()):
            if said.by.label == one.label and said.by.place < one.place:
                del self.told[key]

    def untold(self) -> Iterator[Difference]:
        """Yield the rows that stand and that no record speaks of."""
        for key, row in self.rows.items():
            if self.any and key not in self.told and row.label not in self.lost:
                message = f"{row.name} stands, and no record says that it was made"
                yield Difference(Kind.INSERTED, message)

    def compared(self) -> Iterator[Difference]:
        """Yield in what rows say something else than the records."""
        others = iter([key for key in self.told if key not in self.rows])
        rows = dict(self.rows)
        while some := list(islice(others, _AT_ONCE)):
            column = f"{self.sort.columns['id']}__in"
            rows |= {row.key: row for row in _rows(self.sort, Q(**{column: some}))}
        for key, said in self.told.items():
            yield from _compared(self.sort, said, rows.get(key))


def _compared(sort: Sort, said: _Said, row: _Row | None) -> Iterable[Difference]:
    seq = said.by.seq
    if row is None:
        name = _name(sort, said.values)
        return [Difference(Kind.MISSING, f"{name} is gone", "it stands", seq)]
    if said.ended:
        told_so = f"it was {sort.done}"
        return [Difference(Kind.ALTERED, f"{row.name} is not {sort.done}", told_so, seq)]
    found = []
    if row.ended is not None:
        words = f"{row.name} is {sort.done} since {time_text(row.ended)}"
        told_so = f"it stands, and none that it was {sort.done}"
        found.append(Difference(Kind.ALTERED, words, told_so, seq))
    for name, value in row.values.items():
        if value != said.values[name]:
            words = f"{row.name} has {name} {_shown(value)}"
            told_so = f"it is {_shown(said.values[name])}"
            found.append(Difference(Kind.ALTERED, words, told_so, seq))
    return found


def _shown(value: Any) -> str:
    return "none" if value is None else shown(value)
