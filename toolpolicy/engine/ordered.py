"""The ordered list: last match wins; a layer of the stack, and captain's own policy (SPEC §4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from toolpolicy.engine.applying import has_config_list, is_live, unmet_when
from toolpolicy.engine.matching import Case, Truth, read_hint, read_selector
from toolpolicy.engine.says import Says, Stop, blocked_by
from toolpolicy.engine.values import HintIs, OrderedLayer, OrderedRule, Subject
from toolpolicy.engine.words import Approval, Hint, Mode, ReasonCode


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule of the list that matches and has an opinion."""

    index: int
    layer: OrderedLayer
    rule: int

    @property
    def mode(self) -> Mode:
        """What the rule says."""
        return self.layer.rules[self.rule].mode

    @property
    def counts_for_approval(self) -> bool:
        """`on` and `off` of a layer that may not waive are read as `auto` for the approval."""
        return self.mode is Mode.ASK or self.layer.settings.may_waive_approval


@dataclass(frozen=True, slots=True)
class Resolution:
    """Captain's answer: the mode, its source (rule, default, fallback), the rule's index."""

    mode: Mode
    source: str
    rule: int | None
    effective: Mode


def rule_matches(rule: OrderedRule, subject: Subject) -> bool:
    """Tell whether all selectors and hints of a rule hold."""
    readings = (
        read_hint(c, subject) if isinstance(c, HintIs) else read_selector(c, subject)
        for c in rule.match
    )
    return all(reading.truth is Truth.YES for reading in readings)


def fallback_mode(subject: Subject) -> Mode:
    """Say what counts where no rule decides: the tool's default; an unknown one asks."""
    return effective_mode(subject.default_permission or Mode.ASK, subject)


def effective_mode(mode: Mode, subject: Subject) -> Mode:
    """Settle `auto`: on if declared read-only and not destructive, else ask."""
    if mode is not Mode.AUTO:
        return mode
    harmless = subject.hint(Hint.READ_ONLY) is True and subject.hint(Hint.DESTRUCTIVE) is False
    return Mode.ON if harmless else Mode.ASK


def resolve_ordered(
    rules: Sequence[OrderedRule], tool: Subject, default: Mode | None = None
) -> Resolution:
    """Resolve captain's policy for one tool: the last matching rule that is not `auto` decides."""
    for index in range(len(rules) - 1, -1, -1):
        mode = rules[index].mode
        if mode is not Mode.AUTO and rule_matches(rules[index], tool):
            return Resolution(mode, "rule", index, mode)
    mode = default or Mode.ASK
    source = "fallback" if default is None else "default"
    return Resolution(mode, source, None, effective_mode(mode, tool))


def matches_of(
    layers: Sequence[tuple[int, OrderedLayer]], case: Case, *, now: datetime | None, observing: bool
) -> list[Matched]:
    """Return the matching rules with an opinion, in order, over all applicable ordered layers."""
    return [
        Matched(index, layer, number)
        for index, layer in layers
        for number, rule in enumerate(layer.rules)
        if rule.mode is not Mode.AUTO
        and (observing or not rule.settings.observe)
        and is_live(rule.settings, now)
        and unmet_when(rule, case.context) is None
        and rule_matches(rule, case.subject)
    ]


def judge_list(
    layers: Sequence[tuple[int, OrderedLayer]], case: Case, *, now: datetime | None, observing: bool
) -> Says:
    """Say what the one list of all applicable ordered layers says."""
    matched = matches_of(layers, case, now=now, observing=observing)
    return list_says(matched, [layer for _, layer in layers], case.subject)


def list_says(matched: Sequence[Matched], layers: Sequence[OrderedLayer], subject: Subject) -> Says:
    """Say what the list of these applicable layers says once it is known which rules match."""
    fallback = fallback_mode(subject) if has_config_list(layers) else None
    refusal = None
    if matched:
        last = matched[-1]
        if last.mode is Mode.OFF:
            refusal = Stop(ReasonCode.RULE_OFF, blocked_by(last.index, last.layer, last.rule))
    elif fallback is Mode.OFF:
        refusal = Stop(ReasonCode.TOOL_DEFAULT_OFF, None)
    fired = tuple((match.index, match.rule) for match in matched)
    return Says(refusal=refusal, approval=_approval(matched, fallback), fired=fired)


def _approval(matched: Sequence[Matched], fallback: Mode | None) -> Approval:
    # An `off` that decides refuses, and says nothing about approval (the vectors' reading of §4).
    if matched and matched[-1].mode is Mode.OFF:
        return Approval.DEFAULT
    settling = settles_approval(matched)
    if (settling.mode if settling else fallback) is Mode.ASK:
        return Approval.REQUIRED
    # Only an `on` that is itself the last match, from a layer that may, waives.
    waives = settling is not None and settling.mode is Mode.ON and settling is matched[-1]
    return Approval.WAIVED if waives else Approval.DEFAULT


def settles_approval(matched: Sequence[Matched]) -> Matched | None:
    """Return the match that settles the approval, None where the fallback does."""
    return next((match for match in reversed(matched) if match.counts_for_approval), None)
