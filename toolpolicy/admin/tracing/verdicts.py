"""What one layer of a trace says of the call, in a word: it refuses, asks, hides or admits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.words import Words, filled
from toolpolicy.engine.values import Layer, OrderedLayer, StrictLayer
from toolpolicy.engine.words import Default, Effect, Mode

OBSERVED: Final = "observe"
# What a layer does, what it would do, shape, colours.
Said = tuple[Words, Words, str, str]
# By effect or mode; the strictest first.
WORDS: Final[Mapping[str, Said]] = {
    Effect.DENY: (_("Refuses"), _("Would refuse"), "deny", "deny"),
    Effect.REQUIRE_APPROVAL: (_("Asks"), _("Would ask"), "ask", "ask"),
    Effect.HIDE: (_("Hides"), _("Would hide"), "hide", "hide"),
    Effect.AUTO_APPROVE: (
        _("Spares the question"),
        _("Would spare the question"),
        "waive",
        "waive",
    ),
    Effect.ALLOW: (_("Admits"), _("Would admit"), "yes", "allow"),
    Mode.OFF: (_("Refuses"), _("Would refuse"), "deny", "deny"),
    Mode.ASK: (_("Asks"), _("Would ask"), "ask", "ask"),
    Mode.ON: (_("Admits"), _("Would admit"), "yes", "allow"),
}
NO_OPINION: Final = (_("Says nothing"), _("Would say nothing"), "skip", "hide")
STRICTEST_FIRST: Final = (
    Effect.DENY,
    Effect.REQUIRE_APPROVAL,
    Effect.HIDE,
    Effect.AUTO_APPROVE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a layer says: word, shape, colours."""

    word: Words
    shape: str
    tone: str


def decided(entry: Mapping[str, Any]) -> Verdict:
    """Return the verdict of the layer that decides: its default, or the rule that is marked."""
    if entry["decider"]:
        return _as_verdict(WORDS[Effect.DENY], would=False)
    rule = next(rule for rule in entry["rules"] if rule["decider"])
    return _as_verdict(WORDS.get(rule["effect"], NO_OPINION), would=False)


def verdict(rules: Iterable[Mapping[str, Any]], layer: Layer | None, *, would: bool) -> Verdict:
    """Return what a layer says by itself; `would` of one after the layer that decided."""
    matching = [rule for rule in rules if rule["result"] == "matches"]
    enforced = [rule["effect"] for rule in matching if not rule.get("observing")]
    words = _of(enforced, layer)
    observed = [rule["effect"] for rule in matching if rule.get("observing")]
    watching = _of(observed, layer)
    if observed and words[2] in ("yes", "skip") and watching[2] not in ("yes", "skip"):
        return Verdict(
            filled(gettext("%(word)s, only observing"), word=watching[1]), OBSERVED, "observe"
        )
    return _as_verdict(words, would=would)


def _of(effects: list[str], layer: Layer | None) -> Said:
    if isinstance(layer, OrderedLayer):
        last = next((word for word in reversed(effects) if word != Mode.AUTO), "")
        return WORDS.get(last, NO_OPINION)
    found = next((word for word in STRICTEST_FIRST if word in effects), None)
    if found is not None:
        return WORDS[found]
    shut = isinstance(layer, StrictLayer) and layer.default is Default.DENY
    return WORDS[Effect.DENY if shut and Effect.ALLOW not in effects else Effect.ALLOW]


def _as_verdict(words: Said, *, would: bool) -> Verdict:
    return Verdict(words[1] if would else words[0], words[2], words[3])
