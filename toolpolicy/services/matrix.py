"""What a call of each registered tool meets, for one context after another, under a policy version.

Nothing is recorded: no caller is answered. A cell agrees with the decision on such a call; where
arguments decide, it says what arguments that match no rule's condition meet, and that others may
meet something else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from toolpolicy.engine.catalog import CallState, OpenRule
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.faults import printable
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import Patterns, Policy, StrictLayer
from toolpolicy.engine.variants import arguments_unmatched, without_rules
from toolpolicy.engine.words import Effect, Outcome
from toolpolicy.services import deployment, policies, registry
from toolpolicy.services.decisions.facts import Facts
from toolpolicy.services.decisions.judging import Halt, check_frozen
from toolpolicy.services.errors import NotFound
from toolpolicy.services.live import KEPT, SHOWN, compiled, policy_of, read_live

Context = Mapping[str, str]
# Of the patterns of an argument, a line shows so many.
MOST_PATTERNS: Final = 8
OUTCOMES = {
    CallState.ALLOWED: Outcome.ALLOW,
    CallState.NEEDS_APPROVAL: Outcome.NEEDS_APPROVAL,
    CallState.REFUSED: Outcome.DENY,
}


class Cell(NamedTuple):
    """What a call meets; `depends`: on its arguments; `listed`: whether the agent sees the tool.

    `changed`: another version says otherwise; `differs`: so do the layers without their rules.
    """

    outcome: Outcome
    depends: bool
    listed: bool
    changed: bool = False
    differs: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is a yes without an if."""
        return self.outcome is Outcome.ALLOW and not self.depends

    @property
    def hidden(self) -> bool:
        """Whether the tool may be called though the agent does not see it."""
        return not self.listed and self.outcome is not Outcome.DENY


class Opened(NamedTuple):
    """What an open rule does by which arguments, whatever its name and place.

    Two versions may number their rules anew.
    """

    effect: Effect
    arguments: tuple[tuple[str, str | tuple[str, ...]], ...]

    @property
    def words(self) -> str:
        """Say it: the effect, and each argument with the patterns that it is compared with."""
        looked = (f"`{pointer}` ({', '.join(_texts(value))})" for pointer, value in self.arguments)
        return f"{str(self.effect).replace('_', ' ')} by argument {' and '.join(looked)}"

    def wire(self) -> dict[str, object]:
        """Return it as JSON."""
        looked = [{"pointer": p, "value": list(_patterns(value))} for p, value in self.arguments]
        return {"effect": str(self.effect), "arguments": looked}


class Said(NamedTuple):
    """A cell, and the open rules that a comparison looks at too."""

    outcome: Outcome
    depends: bool
    listed: bool
    open: frozenset[Opened] = frozenset()

    def open_unlike(self, other: "Said | None") -> list[Opened]:
        """Return the open rules that another answer does not have, in an order that stays."""
        unlike = self.open - (other.open if other else frozenset())
        return sorted(unlike, key=lambda one: one.words)


_REFUSED = Said(Outcome.DENY, depends=False, listed=False)


def answers(facts: Facts, context: Context) -> dict[tuple[str, str], Said]:
    """Return what a call of each registered tool, by family and name, meets by these facts."""
    entries = facts.registry.entries
    said = (_REFUSED for _ in entries)
    # Without a policy every call is refused, whatever the empty one would say.
    found = _said(facts, entries, context) if facts.live.version is not None else said
    return {(one.family, one.name): say for one, say in zip(entries, found, strict=True)}


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The registered tools before one version of the policy, `since` an older one if given."""

    version: int
    live: int
    facts: Facts
    since: Facts | None = None
    defaults: bool = False

    @classmethod
    def of(
        cls,
        *,
        now: datetime,
        version: int | None = None,
        since: int | None = None,
        defaults: bool = False,
    ) -> "Matrix":
        """Return the matrix of a version, by default the live one, over the registry of now.

        With `defaults`, cells say what the rules change. Three queries, one more for each other
        version, none for what is cached. Raises `NotFound`.
        """
        live = read_live(now)
        if live.version is None:
            raise NotFound("live policy")
        facts = Facts(
            live=live,
            compiled=compiled(live.policy, live.registry),
            registry=registry.load(live.registry),
            deployment=deployment.current(),
            now=now,
        )
        return cls(
            version=version or live.version,
            live=live.version,
            facts=facts if version in (None, live.version) else _under(facts, version),
            since=None if since is None else _under(facts, since),
            defaults=defaults,
        )

    @property
    def entries(self) -> Sequence[Entry]:
        """The registered tools, by family and name."""
        return self.facts.registry.entries

    def columns(self, entries: Sequence[Entry], contexts: Sequence[Context]) -> list[list[Cell]]:
        """Return, for each context, the cells of these tools."""
        return [self._column(entries, context) for context in contexts]

    def said(self, entries: Sequence[Entry], context: Context) -> list[Said]:
        """Return the answers about these tools in one context, with the rules that are open."""
        return list(_said(self.facts, entries, context))

    def _column(self, entries: Sequence[Entry], context: Context) -> list[Cell]:
        said = self.said(entries, context)
        before = said if self.since is None else list(_said(self.since, entries, context))
        plain = [one.outcome for one in said]
        if self.defaults:
            bare = _bare(self.facts.live.policy, self.facts.live.registry)
            plain = [_plainly(bare, entry, context, self.facts.now) for entry in entries]
        return [
            Cell(*now[:3], changed=now != then, differs=now.depends or now.outcome is not default)
            for now, then, default in zip(said, before, plain, strict=True)
        ]

    def named(self, key: str) -> set[str]:
        """Return the values of a context key that layers, rules and freezes name literally."""
        found = {freeze.value for freeze in self.facts.live.freezes if freeze.kind == key}
        for patterns in _patterns_of(self.facts.policy, key):
            found.update(one for one in patterns if not set("*?") & set(one))
        return found

    def keys(self) -> set[str]:
        """Return the context keys that rules ask about."""
        rules = (rule for layer in self.facts.policy.layers for rule in layer.rules)
        return {key for rule in rules for key, _ in rule.when}


def _under(facts: Facts, number: int) -> Facts:
    """Return the facts with another version's policy in place of the live one."""
    digest = policies.version(number=number).document_id
    return replace(
        facts,
        live=replace(facts.live, policy=digest),
        compiled=compiled(digest, facts.live.registry),
    )


def _patterns_of(policy: Policy, key: str) -> Iterator[Patterns]:
    for layer in policy.layers:
        if layer.settings.scope == key:
            yield layer.settings.target or ()
        if isinstance(layer, StrictLayer):
            for rule in layer.rules:
                yield dict(rule.when).get(key, ())


@lru_cache(maxsize=KEPT)
def _unmatched(policy: str, registry_digest: str) -> CompiledPolicy:
    ready = CompiledPolicy(arguments_unmatched(policy_of(policy)))
    ready.pin(entry.subject for entry in registry.load(registry_digest))
    return ready


@lru_cache(maxsize=KEPT)
def _bare(policy: str, registry_digest: str) -> CompiledPolicy:
    ready = CompiledPolicy(without_rules(policy_of(policy)))
    ready.pin(entry.subject for entry in registry.load(registry_digest))
    return ready


def _plainly(bare: CompiledPolicy, entry: Entry, context: Context, now: datetime) -> Outcome:
    return OUTCOMES[bare.call_state(Judged(entry.subject), context, now=now)[0]]


def _said(facts: Facts, entries: Sequence[Entry], context: Context) -> Iterator[Said]:
    listed = _listed(facts, context)
    for entry in entries:
        if entry.refusal is not None or _is_frozen(facts, entry, context):
            yield _REFUSED
        else:
            yield _of_rules(facts, entry, context, listed=(entry.family, entry.name) in listed)


def _listed(facts: Facts, context: Context) -> set[tuple[str, str]]:
    """Return the tools that stand in the catalog or are found by searching, by family and name.

    Not by identity: a shelf that is kept can outlive the registry it was made of.
    """
    found: set[tuple[str, str]] = set()
    for surface in SHOWN:
        entries, listing = facts.shelf(surface)
        answers = listing.answers(context, facts.now)
        found.update(
            (entry.family, entry.name)
            for entry, answer in zip(entries, answers, strict=True)
            if answer.listed
        )
    return found


def _is_frozen(facts: Facts, entry: Entry, context: Context) -> bool:
    try:
        check_frozen(entry.family, entry.name, context, facts)
    except Halt:
        return True
    return False


def _of_rules(facts: Facts, entry: Entry, context: Context, *, listed: bool) -> Said:
    judged = Judged(entry.subject, floor=entry.floor)
    state, opened = facts.compiled.call_state(judged, context, now=facts.now)
    asks = frozenset(map(_asked, opened))
    depends = state is CallState.DEPENDS_ON_ARGUMENTS
    if depends:
        unmatched = _unmatched(facts.live.policy, facts.live.registry)
        state, _ = unmatched.call_state(judged, context, now=facts.now)
    # A wrapper that is refused is refused whatever it wraps; a higher privilege can open a rule.
    elif entry.depends_on_arguments:
        depends = state is not CallState.REFUSED or bool(entry.privilege)
    return Said(OUTCOMES[state], depends, listed, asks)


def _asked(rule: OpenRule) -> Opened:
    return Opened(rule.effect, rule.arguments)


def _patterns(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _texts(value: str | tuple[str, ...]) -> list[str]:
    """Return patterns to be read, of very many the first."""
    found = _patterns(value)
    more = len(found) - MOST_PATTERNS
    shown = [f"`{printable(one)}`" for one in found[:MOST_PATTERNS]]
    return [*shown, f"{more} more"] if more > 0 else shown
