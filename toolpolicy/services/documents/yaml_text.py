"""YAML that can hold nothing but JSON, read strictly and written so that anybody reads it alike.

Nothing is built from the text but objects, lists, strings, numbers, true, false and null: the
parser's events are taken one by one, so size, depth and number of nodes are bounded before
anything exists. `on`, `off`, `yes` and dates stay text (SPEC §10); anchors, aliases and tags, keys
that stand twice and values that are missing are refused, each with its line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml

from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Fault, FaultList, Faults, join, short_name, shown
from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.strictjson import Limits

# The parser of libyaml where PyYAML was built with it, some ten times as fast.
_PARSER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOT_TEXT: Final = re.compile(r"null|true|false|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_UNPRINTABLE: Final = yaml.reader.Reader.NON_PRINTABLE
_LAST: Final = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


@dataclass(slots=True)
class Spot:
    """One place of a document: its line (from 1), and what stands below it by name or number."""

    line: int
    parent: "Spot | None" = None
    name: str | int = ""
    below: dict[str, "Spot"] = field(default_factory=dict)

    def child(self, name: str | int, line: int) -> "Spot":
        """Add a place below this one; a member that stands twice keeps its first place."""
        spot = Spot(line, self, name)
        self.below.setdefault(short_name(name), spot)
        return spot

    @property
    def pointer(self) -> str:
        """The JSON pointer. Made when it is asked for: keys can be long, and places many."""
        names: list[str] = []
        here = self
        while here.parent is not None:
            names.append(join("", here.name))
            here = here.parent
        return "".join(reversed(names))


@dataclass(frozen=True, slots=True)
class Text:
    """What a text holds, and where its parts stand in it; `root` is None where nobody counted."""

    value: Any
    root: Spot | None = None

    def line(self, pointer: str) -> int | None:
        """Return the line of a pointer, or of the nearest thing around it that is there."""
        here = self.root
        for name in tokens(pointer) if here else ():
            here = here.below.get(name, here) if here else None
        return here.line if here else None

    def located(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        """Return faults of the value with their lines."""
        return tuple(
            replace(fault, line=fault.line or self.line(fault.pointer)) for fault in faults
        )


def loads(data: bytes, limits: Limits | None = None, first_line: int = 1) -> Text:
    """Read one YAML document. Raises `Faults`, each with its line.

    The codes are those of `strictjson.loads`, with `invalid_yaml` for what is no YAML.
    `first_line` is the number of the first line of `data` in its file.
    """
    limits = limits or Limits()
    if len(data) > limits.size:
        message = f"the document has {len(data)} bytes; at most {limits.size} are read"
        raise Faults([Fault("", message, "too_large")])
    builder = _Builder(limits, first_line)
    try:
        text = _decoded(data, first_line)
        value = builder.document(yaml.parse(text, Loader=_PARSER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + first_line
        message = f"not YAML: {error.problem or error.context}"
        raise builder.stopped(Fault("", message, "invalid_yaml", line)) from None
    if builder.found.count:
        raise Faults(builder.found.told())
    return Text(value, builder.root)


def _decoded(data: bytes, first_line: int) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        message = f"the document is not UTF-8 (byte {error.start})"
        raise Faults([Fault("", message, "invalid_yaml", line)]) from None
    if odd := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, odd.start()) + first_line
        message = f"the character {shown(odd[0])} may not stand in YAML; write it as an escape"
        raise Faults([Fault("", message, "invalid_yaml", line)])
    return text


class _Builder:
    """Builds the value from the parser's events, noting faults and places."""

    def __init__(self, limits: Limits, first_line: int) -> None:
        self.limits = limits
        self.first_line = first_line
        self.found = FaultList()
        self.nodes = 0
        self.root = Spot(first_line)

    def stopped(self, last: Fault) -> Faults:
        """Return what is raised where the reading cannot go on: every fault up to this one."""
        self.found.add(last)
        return Faults(self.found.told())

    def document(self, events: Iterator[Any]) -> Any:
        """Build the one document of a stream."""
        value: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    second = Spot(self._line(event))
                    self._fault(second, "there is a second document; one is read")
                    break
                first = next(events)
                self.root.line = self._line(first)
                value = self._node(first, events, self.root, 0)
        if not documents:
            self._fault(self.root, "the document is empty")
        return value

    def _node(self, event: Any, events: Iterator[Any], at: Spot, depth: int) -> Any:
        self._count(event, depth)
        if isinstance(event, yaml.AliasEvent):
            return self._fault(at, f"the alias `*{event.anchor}` is not read; write it out")
        self._check_properties(event, at)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, at)
        if isinstance(event, yaml.SequenceStartEvent):
            return [
                self._node(item, events, at.child(number, self._line(item)), depth + 1)
                for number, item in enumerate(_until_end(events))
            ]
        return self._mapping(events, at, depth)

    def _mapping(self, events: Iterator[Any], at: Spot, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for event in _until_end(events):
            key = self._key(event, at, depth)
            spot = at.child(key, self._line(event))
            if key in found:
                self._fault(spot, "this member stands twice")
            found[key] = self._node(next(events), events, spot, depth + 1)
        return found

    def _key(self, event: Any, at: Spot, depth: int) -> str:
        """Read a key: any scalar, as its text."""
        spot = Spot(self._line(event), at.parent, at.name)
        if not isinstance(event, yaml.ScalarEvent):
            raise self.stopped(Fault(at.pointer, "a key is a text", line=spot.line))
        self._count(event, depth)
        self._check_properties(event, spot)
        self._check_text(event, spot)
        return str(event.value)

    def _scalar(self, event: Any, at: Spot) -> Any:
        plain = event.implicit[0] and event.style in (None, "")
        if plain and event.value == "":
            return self._fault(at, 'there is no value; write null or ""')
        if not plain or not _NOT_TEXT.fullmatch(event.value):
            self._check_text(event, at)
            return event.value
        try:
            return strictjson.loads(event.value.encode(), self.limits)
        except Faults as refused:
            return self._fault(at, refused.faults[0].message)

    def _check_properties(self, event: Any, at: Spot) -> None:
        if event.anchor is not None:
            self._fault(at, f"the anchor `&{event.anchor}` is not read")
        if event.tag is not None:
            self._fault(at, f"the tag {shown(event.tag)} is not read")

    def _check_text(self, event: Any, at: Spot) -> None:
        for fault in strictjson.text_faults(event.value, ""):
            self._fault(at, fault.message)

    def _count(self, event: Any, depth: int) -> None:
        """Stop at once where a bound is passed. An item counts as a token, its comma as one."""
        self.nodes += 1
        opens = isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent)
        if depth + opens > self.limits.depth:
            message = f"the document is nested deeper than {self.limits.depth} levels"
            raise self.stopped(Fault("", message, "too_deep", self._line(event)))
        if 2 * self.nodes > self.limits.tokens:
            message = f"the document has more than {self.limits.tokens // 2} values and keys"
            raise self.stopped(Fault("", message, "too_large", self._line(event)))

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + self.first_line

    def _fault(self, at: Spot, message: str) -> None:
        self.found.add(Fault(at.pointer, message, line=at.line))


def _until_end(events: Iterator[Any]) -> Iterator[Any]:
    """Yield the first event of each node up to the end of the collection around them."""
    for event in events:
        if isinstance(event, _LAST):
            return
        yield event


# --- writing -------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Writes each string in quotes; a key only where some reader would take it for another."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _quoted(dumper: _Dumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


def _object(dumper: _Dumper, members: dict[str, Any]) -> yaml.Node:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", members, flow_style=not members)
    for key, _ in node.value:
        key.style = None
    return node


_Dumper.add_representer(str, _quoted)
_Dumper.add_representer(dict, _object)


def dumps(value: Any) -> str:
    """Return a JSON value as YAML text: `loads(dumps(x)).value == x`, numbers kinds included."""
    return yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100, indent=2
    )
