"""What of a call's arguments a record must not show: rules in wire form, and the places they find.

Rules stand for all tools, for a family and for a tool. They add up: what any of them finds is
masked. Of their modes the tool's own counts, else its family's, else that of all tools.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from toolpolicy.engine.faults import join
from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.reading import Reader, present
from toolpolicy.engine.secret_names import LONGEST_RUN, SecretNames, is_glob, words

MEMBERS: Final = ("mode", "keys", "pointers")
MOST_PATTERNS: Final = 200
LONGEST_PATTERN: Final = 200
MOST_SPOTS: Final = 200
"""Beyond so many places in one document, it is masked whole."""
ANY: Final = "*"
"""Stands in a pointer for any member or item."""
# An object such as {"Name": "Authorization", "Value": "…"} says its member's name inside.
_NAMED_BY: Final = SecretNames(
    f"={name}"
    for name in (
        *("name", "key", "header", "field", "id", "parameter", "param", "variable", "label"),
        *("property", "attribute", "option", "setting"),
    )
)
_VALUE: Final = SecretNames(("=value", "=values", "=val", "=content"))
_PAIR: Final = 2
# Where a schema that describes a secret can hold one.
_EXAMPLES: Final = frozenset(("default", "const", "enum", "example", "examples"))

Path = tuple[str, ...]


class Keeping(StrEnum):
    """How a record keeps a tool's arguments."""

    FULL = "full"
    """As they were sent."""
    MASKED = "masked"
    """With what the rules find replaced."""
    DIGEST = "digest"
    """As one commitment; no value is kept anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskRules:
    """What one place says: for all tools, one family or one tool. No mode: the wider one's."""

    mode: Keeping | None = None
    keys: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One value to be replaced: where, by which rule, of which place; `kept` of one kept apart."""

    path: Path
    rule: str
    of: str
    kept: bool = True


def parse_masking(document: Any) -> MaskRules:
    """Parse `{mode?, keys?, pointers?}`. Raises `Faults`."""
    reader = Reader(max_patterns=MOST_PATTERNS, max_length=LONGEST_PATTERN)
    members = reader.members(document, "", MEMBERS)
    mode = reader.word(members["mode"], "/mode", Keeping) if present(members, "mode") else None
    keys = reader.patterns(members.get("keys", []), "/keys")
    pointers = reader.patterns(members.get("pointers", []), "/pointers")
    for number, key in enumerate(keys):
        if not 0 < len(words(key)) <= LONGEST_RUN and not is_glob(key):
            message = f"a key is 1 to {LONGEST_RUN} words, such as `api_key`"
            reader.fault(join("/keys", number), message)
    for number, pointer in enumerate(pointers):
        if pointer and not pointer.startswith("/"):
            message = "a pointer into the arguments starts with `/`; the empty one is all of them"
            reader.fault(join("/pointers", number), message)
    return reader.finish(MaskRules(mode=mode, keys=keys, pointers=pointers))


class Mask:
    """The rules over the arguments of one tool, the widest first, each with the name of its place.

    `of` is the place whose mode counts, "" where no place says any.
    """

    def __init__(self, places: Sequence[tuple[str, MaskRules]]) -> None:
        modes = [(of, rules.mode) for of, rules in places if rules.mode is not None]
        of, mode = modes[-1] if modes else ("", Keeping.MASKED)
        self.mode = mode
        self.of = of
        self._names = [(of, SecretNames(rules.keys)) for of, rules in places if rules.keys]
        self._pointers = [
            (of, pointer, tokens(pointer)) for of, rules in places for pointer in rules.pointers
        ]

    def key(self, name: str, outer: str = "") -> tuple[str, str] | None:
        """Return the first place whose key patterns a member's name meets, and the pattern.

        It may meet one together with `outer`, the name of the object that it stands in.
        """
        for of, names in self._names:
            found = names.met(name) or (names.inside(outer, name) if outer else None)
            if found is not None:
                return of, found
        return None

    def spots(self, document: Any, at: Path = ()) -> Iterator[Spot]:
        """Yield what is masked of an arguments document that stands at `at`."""
        if self.mode is Keeping.DIGEST:
            yield Spot(path=at, rule="digest only", of=self.of, kept=False)
        elif self.mode is Keeping.MASKED:
            yield from self.keyed(document, at)
            for of, pointer, names in self._pointers:
                for path in _found(document, names, at):
                    yield Spot(path=path, rule=f"pointer {pointer}", of=of)

    def keyed(self, value: Any, at: Path) -> Iterator[Spot]:
        """Yield what the keys find, at any depth."""
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield from self._item(item, (*at, str(number)))
        elif isinstance(value, dict):
            named = self._named(value)
            outer = next((name for name in reversed(at) if not name.isdigit()), "")
            for name, item in value.items():
                found = named if named and _VALUE.met(name) else self.key(name, outer)
                if found:
                    yield _spot(found, (*at, name))
                else:
                    yield from self.keyed(item, (*at, name))

    def _item(self, item: Any, at: Path) -> Iterator[Spot]:
        """Yield what the keys find in an item of a list, which may be a pair of name and value."""
        if isinstance(item, list) and len(item) == _PAIR and isinstance(item[0], str):
            found = self.key(item[0])
            if found:
                yield _spot(found, (*at, "1"))
                return
        yield from self.keyed(item, at)

    def _named(self, value: dict[str, Any]) -> tuple[str, str] | None:
        if not any(map(_VALUE.met, value)):
            return None
        said = (item for name, item in value.items() if _NAMED_BY.met(name))
        found = (self.key(name) for name in said if isinstance(name, str))
        return next((one for one in found if one), None)

    def described(
        self, schema: Any, at: Path, inside: tuple[str, str] | None = None
    ) -> Iterator[Spot]:
        """Yield what the keys find in a schema: there, objects describe secrets and hold examples.

        `inside` is what was met on the way to it.
        """
        if isinstance(schema, list):
            for number, item in enumerate(schema):
                yield from self.described(item, (*at, str(number)), inside)
        if not isinstance(schema, dict):
            return
        named = self._named(schema)
        for name, item in schema.items():
            found = named if named and _VALUE.met(name) else self.key(name)
            if inside and name in _EXAMPLES:
                yield _spot(inside, (*at, name))
            elif found and not isinstance(item, dict | list):
                yield _spot(found, (*at, name))
            else:
                yield from self.described(item, (*at, name), found or inside)


def _spot(found: tuple[str, str], path: Path) -> Spot:
    return Spot(path=path, rule=f"key {found[1]}", of=found[0])


def _found(value: Any, names: Sequence[str], at: Path) -> Iterator[Path]:
    if not names:
        yield at
        return
    name, rest = names[0], names[1:]
    if isinstance(value, dict):
        held = value if name == ANY else [name] if name in value else []
        for one in held:
            yield from _found(value[one], rest, (*at, one))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if name in (ANY, str(number)):
                yield from _found(item, rest, (*at, str(number)))


def settled(spots: Iterable[Spot], root: Path) -> list[Spot]:
    """Return the outermost of these spots in order, each place once, all of them under `root`.

    An outer spot around one whose value must not be kept is not kept either. Too many spots become
    one, the root.
    """
    out: list[Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.path, spot.kept)):
        last = out[-1] if out else None
        if last is not None and spot.path[: len(last.path)] == last.path:
            if last.kept and not spot.kept:
                out[-1] = replace(last, kept=False)
            continue
        out.append(spot)
    if len(out) <= MOST_SPOTS:
        return out
    rule = f"more than {MOST_SPOTS} masked values"
    return [Spot(path=root, rule=rule, of="", kept=all(spot.kept for spot in out))]
