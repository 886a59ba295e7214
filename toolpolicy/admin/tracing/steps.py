"""One rule of a trace: whether it matched, in which words, and the values that it met."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.words import Words
from toolpolicy.engine.faults import printable
from toolpolicy.engine.sentences import Part, PartKind, Parts, sentence
from toolpolicy.engine.values import Layer
from toolpolicy.engine.words import Effect, Mode

# Result: (word, mark, colours, the word for what decides).
RESULTS: Final[Mapping[str, tuple[Words, str, str, Words]]] = {
    "matches": (_("Matches"), "yes", "", _("Matches, decides")),
    "no_match": (_("No match"), "no", "", _("No match, decides")),
    "unreadable": (_("Could not be read"), "unread", "ask", _("Could not be read, decides")),
    "waits_for_arguments": (
        _("Waits for arguments"),
        "args",
        "",
        _("Waits for arguments, decides"),
    ),
    "switched_off": (_("Switched off"), "skip", "", _("Switched off, decides")),
    "expired": (_("Expired"), "clock", "", _("Expired, decides")),
}
REFUSING: Final = (Effect.DENY, Mode.OFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One rule, as it was read. `cause` is what it failed on; "" of one that did not fail."""

    name: Words
    word: Words
    mark: str
    tone: str
    effect: str = ""
    observing: bool = False
    words: Parts = ()
    because: Parts = ()
    cause: str = ""
    decides: bool = False
    dim: bool = False


def text(words: str) -> Part:
    """Return words of a sentence."""
    return Part(PartKind.TEXT, words)


def key(name: str) -> Part:
    """Return the name of a field."""
    return Part(PartKind.KEY, printable(name))


def code(value: str) -> Part:
    """Return a value, with what cannot be printed escaped."""
    return Part(PartKind.CODE, printable(value))


def value_is(field: str, actual: Any) -> Parts:
    """Say what was there."""
    if actual is None or actual == []:
        return (key(field), text(" is not said"))
    return (key(field), text(" is "), code(actual if isinstance(actual, str) else _shown(actual)))


def alternatives(patterns: Iterable[str]) -> Parts:
    """Return patterns joined by "or"; no pattern matches nothing, and that is said."""
    parts: list[Part] = []
    for pattern in patterns:
        parts += [text(" or "), code(pattern)]
    return tuple(parts[1:]) or (text("nothing"),)


def step(rule: Mapping[str, Any], layer: Layer | None, *, dim: bool) -> StepView:
    """Read one rule of an explanation; `layer` gives it its words, as its policy has it."""
    result = rule["result"]
    word, mark, tone, deciding = RESULTS.get(result, (result, "skip", "", result))
    decides, effect = rule["decider"], marks.EFFECTS.get(rule["effect"])
    if decides and effect:
        word, mark, tone = deciding, effect[1], effect[2]
    failed = result not in ("matches", "unreadable") and not rule.get("unreadable")
    known = layer is not None and rule["index"] < len(layer.rules)
    return StepView(
        name=rule["rule"] or f"#{rule['index']}",
        word=word,
        mark=mark,
        tone=tone if decides or not dim else "",
        effect=rule["effect"],
        observing=bool(rule.get("observing")),
        words=sentence(layer.rules[rule["index"]]).parts if layer is not None and known else (),
        because=_because(rule),
        cause=_cause(rule) if failed else "",
        decides=decides,
        dim=(dim or failed) and not decides,
    )


def _cause(rule: Mapping[str, Any]) -> str:
    """Return by what a failed rule is folded with others."""
    return str(rule["field"] if rule["result"] == "no_match" else rule["result"])


def _because(rule: Mapping[str, Any]) -> Parts:
    if rule.get("unreadable"):
        fields = ", ".join(rule["unreadable"])
        return (key(fields), text(" could not be read, and counted against the call"))
    if rule.get("met"):
        said = [value_is(one["field"], one["actual"]) for one in rule["met"]]
        return tuple(part for words in said for part in (text(", "), *words))[1:]
    return value_is(rule["field"], rule["actual"]) if "field" in rule else ()


def _shown(actual: Any) -> str:
    """Return an actual value as its JSON has it, a list as alternatives."""
    if isinstance(actual, bool):
        return "true" if actual else "false"
    return ", ".join(map(str, actual)) if isinstance(actual, list) else str(actual)
