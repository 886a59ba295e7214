"""What a record of a question must not show: every place in it that holds what a caller sent.

The arguments of the tool, of the targets that the host names, and of the targets inside a
dispatcher's arguments, each by the rules of its own tool; context and the schemas that were
submitted by the key patterns for all tools. The strictest of all that is about a place counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from toolpolicy.engine.argument_places import Place, held, places_below
from toolpolicy.engine.globs import same_text
from toolpolicy.engine.masking import Keeping, Mask, MaskRules, Path, Spot, parse_masking, settled
from toolpolicy.engine.pointers import Found, follow
from toolpolicy.engine.questions import Asked, ListQuestion, Question
from toolpolicy.engine.registry import Registry
from toolpolicy.engine.secret_names import DEFAULT_SECRETS
from toolpolicy.engine.subjects import RESERVED_CONTEXT
from toolpolicy.engine.values import ABSENT, Subject

FORMAT: Final = "toolpolicy-masking/1"
EVERYWHERE: Final = "all tools"
# Records are found by the first three, and the others have fixed words.
NEVER_MASKED: Final = frozenset(("agent", "channel", "session", *RESERVED_CONTEXT))
SHORTEST_COPY: Final = 8
"""A masked text of so many characters is masked wherever else it stands."""
MOST_COMPARED: Final = 20
"""So many masked objects and lists are."""
ASKED: Final = "asked"
CONTEXT: Final = "context"
ARGUMENTS: Final = "arguments"
SCHEMA: Final = "input_schema"


def default_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules for all tools with what they leave out: the built-in keys, the mode."""
    return {"mode": str(Keeping.MASKED), "keys": list(DEFAULT_SECRETS), **document}


def everywhere_rules(document: Mapping[str, Any]) -> MaskRules:
    """Parse the rules for all tools. Raises `Faults`."""
    return parse_masking(default_document(document))


class Masker:
    """All rules, ready. `document` is a snapshot: `{all, families: {name: …}, tools: […]}`."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._rules = everywhere_rules(document.get("all", {}))
        families = document.get("families", {})
        self._families = {name: parse_masking(rules) for name, rules in families.items()}
        self._tools = {
            (one["family"], one["name"]): parse_masking(one["rules"])
            for one in document.get("tools", [])
        }
        self._ready: dict[tuple[str, str], Mask] = {}
        self.everywhere = Mask([(EVERYWHERE, self._rules)])
        # Then it does not matter which tool's the arguments are.
        self.alike = not (self._families or self._tools or self._rules.pointers)

    def spots(self, question: Question, registry: Registry) -> list[Spot]:
        """Return what the record of a question does not show, in the order of its paths."""
        own = self._masks(question.tool, registry)
        shared = [target for target in question.targets if target.arguments is ABSENT]
        found = self._arguments((ASKED,), question.tool, own, (question.tool, *shared), registry)
        for number, target in enumerate(question.targets):
            at = (ASKED, "targets", str(number))
            found += self._arguments(at, target, own, (target,), registry)
        found += self._context(question.context)
        return self._with_copies(found, _roots(question), question)

    def list_spots(self, question: ListQuestion) -> list[Spot]:
        """Return what the record of a listing does not show."""
        found = self._context(question.context)
        for number, subject in enumerate(question.subjects or ()):
            found += self._schema((ASKED, "subjects", str(number)), subject)
        roots: dict[Path, Any] = {
            (ASKED, "subjects", str(number), SCHEMA): subject.input_schema
            for number, subject in enumerate(question.subjects or ())
        }
        return self._with_copies(found, {**roots, (ASKED, "query"): question.query}, question)

    def shows(self, key: str) -> bool:
        """Tell whether the value of a context key may stand in a record."""
        return (
            key in NEVER_MASKED
            or self.everywhere.mode is Keeping.FULL
            or not self.everywhere.key(key)
        )

    # --- arguments -------------------------------------------------------------------------------

    def _arguments(
        self, at: Path, asked: Asked, base: list[Mask], tools: Iterable[Asked], registry: Registry
    ) -> list[Spot]:
        """Return what is masked of one arguments document, which is sent for all of `tools`."""
        schema = self._schema((*at, "subject"), asked.submitted) if asked.submitted else []
        args = asked.arguments
        if args is ABSENT:
            return schema
        root = (*at, ARGUMENTS)
        found: list[Spot] = []
        masks = [*base, *(mask for tool in tools for mask in self._masks(tool, registry))]
        for mask in dict.fromkeys(masks):
            found += mask.spots(args, root)
        if not self.alike:
            scanned = {(root, mask) for mask in masks}
            for name, family in dict.fromkeys((tool.name, tool.family) for tool in tools):
                for entry in held(registry, name, family):
                    found += self._nested(
                        root, places_below(registry, entry, args), registry, scanned
                    )
        return settled(found, root) + schema

    def _nested(
        self,
        root: Path,
        places: Iterable[Place],
        registry: Registry,
        scanned: set[tuple[Path, Mask]],
    ) -> Iterator[Spot]:
        """Yield what is masked at the places of targets, each scanned by each mask once.

        A thousand items without arguments of their own are all sent the same whole document.
        """
        for place in places:
            at = (*root, *place.path)
            if place.name is None:
                yield Spot(path=at, rule="not followed further", of=EVERYWHERE, kept=False)
                continue
            for mask in self._masks(Asked(name=place.name, family=place.family), registry):
                if (at, mask) not in scanned:
                    scanned.add((at, mask))
                    yield from mask.spots(place.args, at)

    def _masks(self, asked: Asked, registry: Registry) -> list[Mask]:
        """Return the rules over a tool's arguments; of an unclear name, those of each it can mean.

        A tool that is not registered has those for all tools, and those of the family it names.
        """
        if self.alike:
            return [self.everywhere]
        entries = held(registry, asked.name, asked.family) or registry.twins(asked.name)
        if not entries:
            said = asked.family or ""
            families = [name for name in self._families if same_text(name, said)]
            return [self._mask(family, asked.name) for family in families or [said]]
        return [self._mask(entry.family, entry.name) for entry in entries]

    def _mask(self, family: str, name: str) -> Mask:
        rules, own = self._families.get(family), self._tools.get((family, name))
        if rules is None and own is None:
            return self.everywhere
        # One for all tools without rules of their own: callers make names up.
        key = (family, "" if own is None else name)
        if key not in self._ready:
            places = [(EVERYWHERE, self._rules)]
            places += [] if rules is None else [(family, rules)]
            places += [] if own is None else [(f"{family}/{name}", own)]
            self._ready[key] = Mask(places)
        return self._ready[key]

    # --- beside the arguments --------------------------------------------------------------------

    def _context(self, context: Mapping[str, str]) -> list[Spot]:
        """Return the masked values of a context, as it was sent and as it was judged."""
        masked = [key for key in context if not self.shows(key)]
        return [
            Spot(path=path, rule=f"key {found[1]}", of=found[0])
            for key in masked
            if (found := self.everywhere.key(key))
            for path in ((ASKED, CONTEXT, key), (CONTEXT, key))
        ]

    def _schema(self, at: Path, subject: Subject) -> list[Spot]:
        """Return the masked values of a submitted schema: there, objects describe and hold none."""
        schema = subject.input_schema
        if schema is None or self.everywhere.mode is Keeping.FULL:
            return []
        root = (*at, SCHEMA)
        return settled(self.everywhere.described(schema, root), root)

    def _with_copies(
        self, found: list[Spot], roots: Mapping[Path, Any], question: Question | ListQuestion
    ) -> list[Spot]:
        """Add the other places, below `roots` and in the context, where a masked value stands."""
        held_at = dict(roots)
        held_at.update(((CONTEXT, key), value) for key, value in question.context.items())
        copied = _Copied((_value_at(spot, held_at), spot) for spot in found)
        if not copied.any:
            return found
        out = [spot for spot in found if not any(_under(spot.path, root) for root in roots)]
        for root, held_there in roots.items():
            own = [spot for spot in found if _under(spot.path, root)]
            out += settled([*own, *copied.places(held_there, root)], root)
        for key, value in question.context.items():
            if key not in NEVER_MASKED and self.shows(key):
                for path in ((ASKED, CONTEXT, key), (CONTEXT, key)):
                    out += copied.places(value, path)
        return out


def shown_context(context: Mapping[str, str], spots: Iterable[Spot]) -> dict[str, str]:
    """Return the part of a context that stands in the record of a question with these spots."""
    hidden = {spot.path[1] for spot in spots if spot.path[0] == CONTEXT}
    return {key: value for key, value in context.items() if key not in hidden}


def masked_values(question: Question, spots: Iterable[Spot]) -> Iterator[Any]:
    """Yield what stands in the arguments and schemas of a question at these places."""
    roots = _roots(question)
    for spot in spots:
        yield _value_at(spot, roots)


def _roots(question: Question) -> dict[Path, Any]:
    """Return the documents of a question, arguments and schemas, each with its place."""
    found: dict[Path, Any] = {}
    places: list[tuple[Path, Asked]] = [((ASKED,), question.tool)]
    places += [
        ((ASKED, "targets", str(number)), target) for number, target in enumerate(question.targets)
    ]
    for at, asked in places:
        if asked.arguments is not ABSENT:
            found[(*at, ARGUMENTS)] = asked.arguments
        if asked.submitted is not None:
            found[(*at, "subject", SCHEMA)] = asked.submitted.input_schema
    return found


def _under(path: Path, root: Path) -> bool:
    return path[: len(root)] == root


def _value_at(spot: Spot, roots: Mapping[Path, Any]) -> Any:
    for root, args in roots.items():
        if _under(spot.path, root):
            found = follow(spot.path[len(root) :], args)
            return found.value if isinstance(found, Found) else None
    return None


class _Copied:
    """Masked values that are long enough not to stand somewhere else by chance."""

    def __init__(self, masked: Iterable[tuple[Any, Spot]]) -> None:
        self._texts: dict[str, Spot] = {}
        self._others: list[tuple[Any, Spot]] = []
        for value, spot in masked:
            if isinstance(value, str) and len(value) >= SHORTEST_COPY:
                self._texts.setdefault(value, spot)
            elif isinstance(value, dict | list) and value and len(self._others) < MOST_COMPARED:
                self._others.append((value, spot))

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self._texts or self._others)

    def places(self, value: Any, at: Path) -> Iterator[Spot]:
        """Yield where below `at` one of them stands."""
        found = self._met(value)
        if found is not None:
            yield replace(found, path=at)
        elif isinstance(value, dict):
            for name, item in value.items():
                yield from self.places(item, (*at, name))
        elif isinstance(value, list):
            for number, item in enumerate(value):
                yield from self.places(item, (*at, str(number)))

    def _met(self, value: Any) -> Spot | None:
        if isinstance(value, str):
            return self._texts.get(value)
        if not isinstance(value, dict | list):
            return None
        return next((spot for other, spot in self._others if value == other), None)
