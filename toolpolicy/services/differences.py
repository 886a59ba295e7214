"""What differs in words: the one telling of a change that pages, reports and commands share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from toolpolicy.engine import canonical
from toolpolicy.engine.schema_changes import same
from toolpolicy.engine.sentence_changes import only_lists_differ
from toolpolicy.engine.sentences import Sentence
from toolpolicy.models import Rule
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services.wording import as_row

Wire = Mapping[str, Any]
# What the sentence of a rule says.
SAID: Final = frozenset({"effect", "mode", "on", "match", "except", "when", "observe"})
# Objects whose members are told one by one.
_OBJECTS: Final = frozenset({"match", "except", "when", "approval"})
# Without these, the words of what was added would say that it acts when it does not.
_SWITCHES: Final = frozenset({"enabled", "expires_at", "valid_from", "valid_until"})
_DIGEST: Final = len("sha256:") + 12
_NOTHING: Final = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member that differs, None where it is not there; of lists, which elements went and came.

    Of what is `new` itself, only what it has is told.
    """

    path: tuple[str, ...]
    before: Any
    after: Any
    removed: tuple[Any, ...] = ()
    added: tuple[Any, ...] = ()
    new: bool = False

    @property
    def name(self) -> str:
        """Its name, and those of the objects that it stands in."""
        return ".".join(self.path)

    def __str__(self) -> str:
        if self.new:
            return f"{self.name}: {text_of(self.after)}"
        lists = (("added", self.added), ("removed", self.removed))
        told = [f"{fate} {', '.join(map(_quoted, some))}" for fate, some in lists if some]
        return (
            f"{self.name}: {', '.join(told) or f'{text_of(self.before)} → {text_of(self.after)}'}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A change of a layer or rule: a rule before and after, said, and the members that differ.

    Of members, those that the two sentences do not say already.
    """

    before: tuple[Rule, Sentence] | None = None
    after: tuple[Rule, Sentence] | None = None
    members: tuple[Member, ...] = ()

    @property
    def sentence(self) -> str:
        """The rule in words, both before and after where more differs than elements of lists."""
        old, new = (one[1] if one else None for one in (self.before, self.after))
        if old and new and not only_lists_differ(old, new):
            return f"{old} → {new}"
        return str(new or old or "")

    def lines(self) -> list[str]:
        """Return what is told as plain text: the rule first, then the members."""
        return [*filter(None, [self.sentence]), *map(str, self.members)]


def told(change: Wire, *, marked: bool = False) -> Told:
    """Tell a change of `policies.diff` that is no move.

    `marked` is for a page that marks in the sentence which elements of lists went and came.
    """
    before, after = change.get("before"), change.get("after")
    found = tuple(_of_policy(change)) if after is not None else ()
    if "rule" not in change:
        return Told(members=found)
    old, new = (as_row(dict(wire)) if wire else None for wire in (before, after))
    if old and new and _says_all(old[1], new[1], marked=marked):
        found = tuple(one for one in found if one.path[0] not in SAID)
    return Told(before=old, after=new, members=found)


def _says_all(old: Sentence, new: Sentence, *, marked: bool) -> bool:
    """Tell whether the sentences show all that differs in what a sentence says."""
    if old == new or old.is_cut or new.is_cut:
        return False
    return marked or not only_lists_differ(old, new)


def _of_policy(change: Wire) -> Iterator[Member]:
    """Yield the members that differ; of what was added, those that keep it from acting."""
    before, after = change.get("before"), change["after"]
    plain = rows.plain_rule() if "rule" in change else rows.plain_layer(after["scope"])
    if before is not None:
        # A layer of another scope has other settings where it says nothing.
        was = plain if "rule" in change else rows.plain_layer(before["scope"])
        yield from members({**was, **_flat(before)}, {**plain, **_flat(after)})
        return
    for one in members(plain, {**plain, **_flat(after)}):
        if one.name in _SWITCHES:
            yield replace(one, new=True)


def members(before: Wire, after: Wire) -> Iterator[Member]:
    """Yield each member that differs, those of `policy` and `settings` among the others."""
    yield from _members((), _flat(before), _flat(after))


def _members(path: tuple[str, ...], old: Wire, new: Wire) -> Iterator[Member]:
    for name in [*old, *(name for name in new if name not in old)]:
        here, one, other = (*path, name), old.get(name), new.get(name)
        if same(one, other):
            continue
        if here[0] in _OBJECTS and isinstance(one, dict) and isinstance(other, dict):
            yield from _members(here, one, other)
        else:
            removed, added = _elements(one, other)
            yield Member(path=here, before=one, after=other, removed=removed, added=added)


def _elements(old: Any, new: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return which elements went and came, none where a side is no list, nor one text alone."""
    listed = any(isinstance(one, list) for one in (old, new))
    if not listed or not all(isinstance(one, list | str) for one in (old, new)):
        return (), ()
    was, now = ([one] if isinstance(one, str) else one for one in (old, new))
    return tuple(_without(was, now)), tuple(_without(now, was))


def _without(some: Sequence[Any], others: Sequence[Any]) -> Iterator[Any]:
    known = {canonical.dumps(one) for one in others}
    yield from (one for one in some if canonical.dumps(one) not in known)


def _flat(wire: Wire) -> dict[str, Any]:
    """Return the members, those of `settings` and `policy` beside the others."""
    inner = ("settings", "policy")
    outer = {name: value for name, value in wire.items() if name not in inner}
    return {**outer, **wire.get("policy", {}), **wire.get("settings", {})}


def text_of(value: Any) -> str:
    """Return a value as plain text: one word as it is, all else as JSON; of a digest, enough."""
    if value is None:
        return _NOTHING
    if not isinstance(value, str) or value in ("", _NOTHING) or " " in value:
        return canonical.dumps(value)
    # Enough of a digest to tell it from others; the whole one stands in JSON.
    return f"{value[:_DIGEST]}…" if value.startswith("sha256:") else value


def _quoted(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else canonical.dumps(value)
