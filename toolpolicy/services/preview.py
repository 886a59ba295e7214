"""What saving a rule would do: its words, its tools, and whose answers it changes.

Nothing is written and nothing is locked: the live policy with this one rule put in is compiled
beside it, and the two are compared over the registry and the contexts that callers sent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.faults import Fault, Faults, shown
from toolpolicy.engine.lint.findings import Finding
from toolpolicy.engine.narrowing import AnyRule, changes_nothing, only_narrows
from toolpolicy.engine.reach import reach, with_rules
from toolpolicy.engine.registry import Entry, Registry
from toolpolicy.engine.sentences import Sentence, sentence
from toolpolicy.engine.values import ArgumentIs, Policy
from toolpolicy.engine.values import Layer as LayerValue
from toolpolicy.engine.values import Rule as StrictRule
from toolpolicy.models import Layer, Rule
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services import lint, live, registry_store, seen, usage
from toolpolicy.services._policy_edits import edit_rule, new_id, sent_faults
from toolpolicy.services._policy_store import clean
from toolpolicy.services._preview_changes import MOST_KINDS, Answer, Change, Comparison, Wider
from toolpolicy.services._preview_contexts import Asker, contexts, keys_of
from toolpolicy.services._preview_examples import Tried, try_examples
from toolpolicy.services.errors import InvalidInput

Values = Mapping[str, Any]
MOST_LINTED: Final = 200_000
"""Rules times tools up to which a policy is linted for a preview."""

__all__ = ("Answer", "Asker", "Change", "Preview", "check", "of_rule", "pointers_of")


class Effect(StrEnum):
    """What an edit does to all answers, as far as it is known."""

    NOTHING = "nothing"
    NARROWS = "narrows"
    WIDENS = "widens"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What saving a rule would do.

    `calls` are the decisions of the last seven days about the tools it matches. `askers` are those
    whose answers were compared; `left_out` counts those that were not. `lacking` are the argument
    pointers of the rule with the matched tools whose schema does not name them. `findings` are what
    lint finds of the rule; None where the policy is too large to be linted while somebody types.
    """

    rule: AnyRule
    layer: LayerValue
    sentence: Sentence
    tools: tuple[Entry, ...]
    calls: int
    effect: Effect
    changes: tuple[Change, ...]
    askers: tuple[Asker, ...]
    left_out: int
    lacking: tuple[tuple[str, tuple[Entry, ...]], ...]
    findings: tuple[Finding, ...] | None
    examples: tuple[Tried, ...]

    @property
    def observing(self) -> bool:
        """Whether it would only be recorded what the rule does."""
        return self.rule.settings.observe or self.layer.settings.observe


def of_rule(*, layer: Layer, rule: Rule | None, values: Values, now: datetime) -> Preview:
    """Preview a rule of a stored layer as these members make it; None for a new rule.

    Raises `InvalidInput` as saving it would. Three queries, and those of a policy and a registry
    that are not cached.
    """
    standing = live.read_live(now)
    policy, registry = live.policy_of(standing.policy), registry_store.load(standing.registry)
    place, before = _stands(policy, layer, rule)
    parsed, after = _parsed(layer, rule, values, place)
    home = parsed if place is None else place
    edit = _Edit(home, before, after)
    touched = _reached(home, edit.rules, registry)
    applied = edit.applied(policy)
    compared = CompiledPolicy(applied)
    compared.pin(entry.subject for entry in touched)
    comparison = Comparison(live.compiled(standing.policy, standing.registry), compared, now)
    asked = contexts(home, edit.rules, seen.values_of(keys_of(home, edit.rules)))
    kinds = comparison.kinds(asked.asked)
    changes = comparison.changes([e for e in touched if e.refusal is None], kinds[:MOST_KINDS])
    tools, calls = _reached(home, [after], registry), usage.tool_calls()
    return Preview(
        rule=after,
        layer=home,
        sentence=sentence(after),
        tools=tuple(tools),
        calls=sum(calls.get((entry.family, entry.name), 0) for entry in tools),
        effect=edit.effect(changes),
        changes=tuple(changes),
        askers=tuple(asker for askers, _ in kinds[:MOST_KINDS] for asker in askers),
        left_out=asked.left_out + sum(len(askers) for askers, _ in kinds[MOST_KINDS:]),
        lacking=tuple(_lacking(after, tools)),
        findings=_findings(applied, home, after, registry, now),
        examples=tuple(try_examples(home, after, registry, now)),
    )


class _Edit(NamedTuple):
    """A rule of a live layer, None where it is new, and what becomes of it."""

    layer: LayerValue
    before: AnyRule | None
    after: AnyRule

    @property
    def rules(self) -> list[AnyRule]:
        """Both of them."""
        return [self.after] if self.before is None else [self.before, self.after]

    def applied(self, policy: Policy) -> Policy:
        """Return the policy after the edit; a new rule is the last of its layer."""
        held: list[AnyRule] = list(self.layer.rules)
        kept = [self.after if one is self.before else one for one in held]
        kept += [] if self.before else [self.after]
        edited = with_rules(self.layer, kept)
        layers = [edited if one is self.layer else one for one in policy.layers]
        layers += [] if any(one is edited for one in layers) else [edited]
        return replace(policy, layers=tuple(layers))

    def effect(self, changes: Sequence[Change]) -> Effect:
        """Say what the edit does to all answers: as proven, or else as these changes show."""
        if changes_nothing(*self):
            return Effect.NOTHING
        if only_narrows(*self):
            return Effect.NARROWS
        widens = any(change.wider is Wider.YES for change in changes)
        return Effect.WIDENS if widens else Effect.UNPROVEN


def check(*, layer: Layer, rule: Rule | None, values: Values) -> None:
    """Raise `InvalidInput` where these members are no rule; no query."""
    _parsed(layer, rule, values, None)


def _stands(
    policy: Policy, layer: Layer, rule: Rule | None
) -> tuple[LayerValue | None, AnyRule | None]:
    """Return the layer and the rule as they are live."""
    place = next((one for one in policy.layers if one.name == layer.name), None)
    if place is None or rule is None:
        return place, None
    held: Sequence[AnyRule] = place.rules
    return place, next((one for one in held if one.id == rule.rule_id), None)


def _parsed(
    layer: Layer, rule: Rule | None, values: Values, place: LayerValue | None
) -> tuple[LayerValue, AnyRule]:
    """Return the layer with nothing but the edited rule in it, and that rule."""
    others = {one.id or "" for one in (place.rules if place else ())}
    others -= {rule.rule_id} if rule else set()
    entry = rows.entry_of(layer, [rule] if rule else [])
    if rule is None:
        values = {**values, "id": new_id(values, others)}
        entry["policy"]["rules"].append({"id": values["id"], "match": {}})
    edit_rule(entry, 0, values)
    name = entry["policy"]["rules"][0]["id"]
    try:
        found = parse_policy(rows.document([entry])).layers[0]
    except Faults as refused:
        raise InvalidInput(sent_faults(refused.faults, 0, (0, name))) from None
    clean(Rule(layer=layer, **rows.rule_values(entry)[0]), rows.RULE_MEMBERS)
    if name in others:
        raise InvalidInput([Fault("/id", f"{shown(name)} stands twice", "duplicate")])
    return found, found.rules[0]


def _reached(layer: LayerValue, rules: Sequence[AnyRule], registry: Registry) -> list[Entry]:
    """Return the tools that one of these rules of the layer is about."""
    only = with_rules(layer, rules)
    found = reach(only, [entry.subject for entry in registry])
    return [registry.entries[number] for number in sorted(set().union(*found))]


def _findings(
    policy: Policy, layer: LayerValue, rule: AnyRule, registry: Registry, now: datetime
) -> tuple[Finding, ...] | None:
    rules = sum(len(one.rules) for one in policy.layers)
    if rules * len(registry) > MOST_LINTED:
        return None
    return lint.of_edit(policy, registry, now).by_rule(layer.name or "", rule.id or "")


def _lacking(rule: AnyRule, tools: Sequence[Entry]) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    """Yield the argument pointers that schemas of matched tools do not name, with those tools."""
    if not isinstance(rule, StrictRule):
        return
    for condition in rule.match:
        if isinstance(condition, ArgumentIs):
            lacking = [entry for entry in tools if condition.pointer not in pointers_of(entry)]
            if lacking:
                yield condition.pointer, tuple(lacking)


def pointers_of(entry: Entry) -> list[str]:
    """Return the pointers of the arguments that a tool's schema names, two levels deep."""
    found = [""]
    for name, inner in _properties(entry.subject.input_schema):
        found += [f"/{name}", *(f"/{name}/{deeper}" for deeper, _ in _properties(inner))]
    return found


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    named = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(named, dict):
        for name, inner in named.items():
            yield name.replace("~", "~0").replace("/", "~1"), inner
