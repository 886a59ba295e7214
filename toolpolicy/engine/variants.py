"""A policy with some of its rules left out, to say what those rules change."""

from dataclasses import replace

from toolpolicy.engine.values import ArgumentIs, Condition, Policy, Rule, StrictLayer


def without_rules(policy: Policy) -> Policy:
    """Return the layers with what each says where no rule of it decides."""
    layers = (replace(layer, rules=()) for layer in policy.layers)  # type: ignore[arg-type]
    return Policy(layers=tuple(layers))


def arguments_unmatched(policy: Policy) -> Policy:
    """Return the policy as it is for arguments that no condition on arguments matches.

    A rule that wants an argument does not match, and an exception that wants one does not hold;
    what a call meets then depends on arguments no longer.
    """
    layers = (
        replace(layer, rules=tuple(new for rule in layer.rules if (new := _settled(rule))))
        if isinstance(layer, StrictLayer)
        else layer
        for layer in policy.layers
    )
    return Policy(layers=tuple(layers))


def _settled(rule: Rule) -> Rule | None:
    if _asks(rule.match):
        return None
    return replace(rule, exception=None) if _asks(rule.exception or ()) else rule


def _asks(conditions: tuple[Condition, ...]) -> bool:
    return any(isinstance(condition, ArgumentIs) for condition in conditions)
