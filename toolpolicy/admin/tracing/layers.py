"""An explanation as a page shows it: the layers top down, and in each its rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.layer_words import SCOPES
from toolpolicy.admin.tracing.steps import (
    REFUSING,
    StepView,
    alternatives,
    step,
    text,
    value_is,
)
from toolpolicy.admin.tracing.verdicts import OBSERVED, Verdict, decided, verdict
from toolpolicy.admin.words import Words, english, filled
from toolpolicy.engine.messages import CAUSES
from toolpolicy.engine.sentences import Parts
from toolpolicy.engine.values import Layer, Policy, StrictLayer
from toolpolicy.engine.words import Default, ReasonCode

# What settled an answer beside the rules.
BESIDE: Final = {
    "nothing": _("No rule says otherwise"),
    "declared": _("The tool declares that it needs approval"),
    "registry": _("The tool is not as it was when it was reviewed, or it is not registered"),
    "tool_default": _("Nothing switches it on or off, so that the tool’s own default counts"),
}
# By the first word of what rules fail on.
FOLDS: Final = {
    "switched_off": ngettext_lazy(
        "%(count)s rule switched off", "%(count)s rules switched off", "count"
    ),
    "expired": ngettext_lazy("%(count)s rule expired", "%(count)s rules expired", "count"),
    "waits_for_arguments": ngettext_lazy(
        "%(count)s rule waiting for arguments", "%(count)s rules waiting for arguments", "count"
    ),
    "on": ngettext_lazy(
        "%(count)s rule for another surface", "%(count)s rules for another surface", "count"
    ),
    "when": ngettext_lazy(
        "%(count)s rule for another %(field)s", "%(count)s rules for another %(field)s", "count"
    ),
    "except": ngettext_lazy(
        "%(count)s rule carved out by %(field)s", "%(count)s rules carved out by %(field)s", "count"
    ),
    "arg": ngettext_lazy(
        "%(count)s rule not met by argument %(field)s",
        "%(count)s rules not met by argument %(field)s",
        "count",
    ),
}
UNMET: Final = ngettext_lazy(
    "%(count)s rule not met by the %(field)s", "%(count)s rules not met by the %(field)s", "count"
)
MOST_FOLDED: Final = 50
UNREAD: Final = ("switched_off", "expired")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Rules that failed for the same cause: as many as a page holds, and how many more."""

    about: str
    steps: list[StepView]
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerView:
    """One layer, as it was read; `because` says why it does not apply, if it does not."""

    name: Words
    about: str
    because: Parts = ()
    verdict: Verdict | None = None
    decides: bool = False
    dim: bool = False
    steps: Sequence[StepView] = ()
    folds: Sequence[Fold] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectView:
    """One judged tool: the layers that apply to it, those that do not, and what decided beside."""

    tool: str
    family: str
    layers: list[LayerView]
    others: list[LayerView]
    end: StepView | None = None


def subjects_of(
    explanation: Mapping[str, Any], policy: Policy, tone: tuple[str, str]
) -> list[SubjectView]:
    """Read the subjects of an explanation; `policy` gives its rules their words.

    The decider is marked on exactly one step; `tone` is the shape and the colours of the answer.
    """
    held = {layer.name: layer for layer in policy.layers}
    decider = explanation["decider"]
    subjects = [_subject(subject, held) for subject in explanation.get("subjects", [])]
    if "layer" in decider:
        return subjects
    end = _end(decider, tone)
    if not subjects:
        return [SubjectView(tool=decider["tool"], family="", layers=[], others=[], end=end)]
    about = decider["subject"]
    return [*subjects[:about], replace(subjects[about], end=end), *subjects[about + 1 :]]


def _end(decider: Mapping[str, Any], tone: tuple[str, str]) -> StepView:
    kind = decider["kind"]
    words: Words
    if kind in BESIDE:
        words = BESIDE[kind]
    else:
        cause = english(CAUSES[ReasonCode(kind)])
        words = filled(gettext("No rule was read: %(cause)s"), cause=cause)
    return StepView(name=words, word=_("Decides"), mark=tone[0], tone=tone[1], decides=True)


def _subject(subject: Mapping[str, Any], held: Mapping[str | None, Layer]) -> SubjectView:
    entries = subject["layers"]
    applying = [entry for entry in entries if entry["applies"]]
    first = _first_deny(applying)
    layers, passed = [], False
    for entry in applying:
        layer = _layer(entry, held.get(entry["layer"]), dim=passed, open_rule=first)
        passed = passed or layer.decides
        layers.append(layer)
    return SubjectView(
        tool=subject["tool"],
        family=subject["family"] or "",
        layers=layers,
        others=[
            _other(entry, held.get(entry["layer"])) for entry in entries if not entry["applies"]
        ],
    )


def _first_deny(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the first rule that could have refused: it is never folded away."""
    rules = (rule for entry in entries for rule in entry["rules"])
    return next((r for r in rules if r["effect"] in REFUSING and r["result"] not in UNREAD), None)


def _layer(
    entry: Mapping[str, Any],
    layer: Layer | None,
    *,
    dim: bool,
    open_rule: Mapping[str, Any] | None,
) -> LayerView:
    steps = [(step(rule, layer, dim=dim), rule is open_rule) for rule in entry["rules"]]
    if entry["decider"]:
        steps.append((_default(), True))
    decides = any(one.decides for one, _ in steps)
    open_steps, folds = _folded(steps)
    found = decided(entry) if decides else verdict(entry["rules"], layer, would=dim)
    return LayerView(
        name=entry["layer"] or _("(without a name)"),
        about=_about(entry, layer),
        verdict=found,
        decides=decides,
        dim=dim or found.shape == OBSERVED,
        steps=open_steps,
        folds=folds,
    )


def _default() -> StepView:
    return StepView(
        name=_("Otherwise deny"),
        word=_("Decides"),
        mark="deny",
        tone="deny",
        words=(text("what no rule of this layer allows"),),
        decides=True,
    )


def _folded(steps: Iterable[tuple[StepView, bool]]) -> tuple[list[StepView], list[Fold]]:
    """Part what stands open from what folds: rules that fail on the same field, two at least."""
    shown = list(steps)
    open_steps = [one for one, open_anyway in shown if open_anyway or not one.cause]
    failing = [one for one, open_anyway in shown if one.cause and not open_anyway]
    groups = (list(found) for _, found in groupby(sorted(failing, key=_by), key=_by))
    folds = []
    for group in groups:
        if len(group) == 1 and open_steps:
            open_steps += group
        else:
            kept, more = group[:MOST_FOLDED], len(group[MOST_FOLDED:])
            folds.append(Fold(about=_fold_words(group), steps=kept, more=more))
    return open_steps, folds


def _by(one: StepView) -> str:
    return one.cause


def _fold_words(group: Sequence[StepView]) -> str:
    kind, _, field = group[0].cause.partition(" ")
    return FOLDS.get(kind, UNMET) % {"count": len(group), "field": field or kind}


def _other(entry: Mapping[str, Any], layer: Layer | None) -> LayerView:
    return LayerView(
        name=entry["layer"] or _("(without a name)"),
        about=_about(entry, layer),
        because=_why_not(entry),
        dim=True,
    )


def _about(entry: Mapping[str, Any], layer: Layer | None) -> str:
    strict = entry["combining"] == "deny_overrides"
    words = [
        str(SCOPES.get(entry["scope"], entry["scope"])),
        gettext("strict") if strict else gettext("ordered, the last match wins"),
    ]
    if isinstance(layer, StrictLayer):
        denies = layer.default is Default.DENY
        words.append(gettext("otherwise deny") if denies else gettext("otherwise allow"))
    if entry.get("observing"):
        words.append(gettext("only observing"))
    return ", ".join(words)


def _why_not(entry: Mapping[str, Any]) -> Parts:
    because = entry["because"]
    if because != "target":
        return (text("switched off" if because == "disabled" else str(because)),)
    wanted = entry["target"]
    patterns = [wanted] if isinstance(wanted, str) else wanted
    actual = value_is(entry["scope"], entry["actual"])
    return (*actual, text(", the layer wants "), *alternatives(patterns))
