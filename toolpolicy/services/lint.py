"""What lint finds in the live policy, over the live registry and what callers sent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.utils import timezone

from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.indexes import keep
from toolpolicy.engine.lint.check import lint
from toolpolicy.engine.lint.expiry import stands_until
from toolpolicy.engine.lint.findings import Finding, FindingCode, Severity
from toolpolicy.engine.lint.known import Question, Seen
from toolpolicy.engine.registry import Registry
from toolpolicy.engine.subjects import RESERVED_CONTEXT
from toolpolicy.engine.values import Layer, Policy
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services import live, registry_store, seen
from toolpolicy.services.baseline import BASELINE_LAYERS

__all__ = ("Finding", "FindingCode", "Findings", "Severity", "findings", "of_edit")

KEPT: Final = 8
"""How many answers are remembered, each for another policy, registry and contexts seen."""

_Key = tuple[live.Live, Seen]


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, and where: by the name of a layer, the id of a rule, family and tool.

    `version` and `digest` are those of the live policy; None of another one, and before any.
    """

    found: tuple[Finding, ...] = ()
    version: int | None = None
    digest: str | None = None
    _by_layer: Mapping[str | None, tuple[Finding, ...]] = field(default_factory=dict, repr=False)
    _by_rule: Mapping[tuple[str | None, str | None], tuple[Finding, ...]] = field(
        default_factory=dict, repr=False
    )
    _by_tool: Mapping[tuple[str, str], tuple[Finding, ...]] = field(
        default_factory=dict, repr=False
    )

    @classmethod
    def of(cls, found: Iterable[Finding], state: live.Live | None = None) -> "Findings":
        """Sort findings by what they are about."""
        found = tuple(found)
        by_layer: dict[str | None, list[Finding]] = {}
        by_rule: dict[tuple[str | None, str | None], list[Finding]] = {}
        by_tool: dict[tuple[str, str], list[Finding]] = {}
        for one in found:
            by_layer.setdefault(one.layer, []).append(one)
            by_rule.setdefault((one.layer, one.rule), []).append(one)
            for tool in one.tools:
                by_tool.setdefault(tool, []).append(one)
        return cls(
            found,
            state.version if state else None,
            (state.policy or None) if state else None,
            {name: tuple(some) for name, some in by_layer.items()},
            {place: tuple(some) for place, some in by_rule.items()},
            {tool: tuple(some) for tool, some in by_tool.items()},
        )

    def by_layer(self, name: str) -> tuple[Finding, ...]:
        """Return everything about a layer, its rules included."""
        return self._by_layer.get(name, ())

    def by_rule(self, layer: str, rule: str) -> tuple[Finding, ...]:
        """Return what is about one rule."""
        return self._by_rule.get((layer, rule), ())

    def about_layer(self, name: str) -> tuple[Finding, ...]:
        """Return what is about a layer itself."""
        return self._by_rule.get((name, None), ())

    def by_tool(self, family: str, name: str) -> tuple[Finding, ...]:
        """Return what is about a registered tool, and no rule."""
        return self._by_tool.get((family, name), ())

    def wire(self) -> dict[str, Any]:
        """Return it as JSON: the policy that was linted, how many of each severity, and which."""
        return {
            "policy": {"version": self.version, "digest": self.digest},
            "counts": self.counts(),
            "findings": [one.wire() for one in self.found],
        }

    def counts(self) -> dict[str, int]:
        """Count them by severity."""
        return {
            str(severity): sum(one.severity is severity for one in self.found)
            for severity in Severity
        }


_kept: dict[_Key, tuple[datetime, datetime | None, Findings]] = {}


def findings(now: datetime | None = None) -> Findings:
    """Lint what is live now. Four queries, and those of `live.compiled` for what is not cached.

    What was found is remembered until the policy, the registry, what callers send, or the time
    changes it.
    """
    now = now or timezone.now()
    state = live.read_live(now)
    known = _seen()
    key = (replace(state, freezes=()), known)
    held = _kept.get(key)
    if held is not None and held[0] <= now and (held[1] is None or now < held[1]):
        return held[2]
    policy = live.policy_of(state.policy)
    question = Question(
        policy=policy,
        registry=registry_store.load(state.registry),
        now=now,
        seen=known,
        baseline=_baseline(),
    )
    found = Findings.of(lint(question), state)
    keep(_kept, key, (now, stands_until(policy, now), found), most=KEPT)
    return found


def of_edit(policy: Policy, registry: Registry, now: datetime) -> Findings:
    """Lint a policy that is not live, as `findings` does. Three queries; nothing is remembered."""
    question = Question(
        policy=policy, registry=registry, now=now, seen=_seen(), baseline=_baseline()
    )
    return Findings.of(lint(question))


@lru_cache(maxsize=1)
def _baseline() -> tuple[Layer, ...]:
    entries = ({**entry, "position": place} for place, entry in enumerate(BASELINE_LAYERS))
    return parse_policy(rows.document(entries)).layers


def _seen() -> Seen:
    """Return what callers sent, as far as all of it is kept: three queries."""
    keys = frozenset(seen.keys())
    values = {key: tuple(seen.values(key)) for key in ("agent", "channel")}
    own = {*values, seen.SESSION, *RESERVED_CONTEXT}
    if keys <= own and not any(values.values()):
        # Nobody asked yet: nothing can be said of what is never sent.
        return Seen()
    all_keys = len(keys) < seen.MOST_KEYS
    kept = {
        key: some
        for key, some in values.items()
        if len(some) < seen.MOST_VALUES and (some or all_keys)
    }
    return Seen(keys=keys if all_keys else None, values=tuple(sorted(kept.items())))
