"""The examples of a rule tried on it: calls that it is meant for."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from toolpolicy.engine.compiled_layers import CompiledLayer
from toolpolicy.engine.narrowing import AnyRule
from toolpolicy.engine.reach import switched_on, with_rules
from toolpolicy.engine.registry import Registry
from toolpolicy.engine.values import ABSENT, BARE, Layer, Subject
from toolpolicy.engine.words import Surface


class Tried(NamedTuple):
    """An example, and whether the rule matches it; None when it names no tool."""

    example: Any
    matches: bool | None

    @property
    def tool(self) -> str:
        """The name of the tool, "" without one."""
        name = self.example.get("tool") if isinstance(self.example, dict) else None
        return name if isinstance(name, str) else ""


def try_examples(layer: Layer, rule: AnyRule, registry: Registry, now: datetime) -> Iterator[Tried]:
    """Yield each example with what comes of it.

    An example is `{tool, family?, arguments?, context?}`. Without a context it is meant for any.
    """
    for example in rule.settings.examples:
        tried = Tried(example, None)
        if tried.tool:
            tried = Tried(example, _matches(layer, rule, example, registry, now))
        yield tried


def _matches(
    layer: Layer, rule: AnyRule, example: dict[str, Any], registry: Registry, now: datetime
) -> bool:
    family, context = example.get("family"), example.get("context")
    args = example.get("arguments", ABSENT)
    entry = registry.resolve(example["tool"], family if isinstance(family, str) else None).entry
    subject = Subject(name=example["tool"]) if entry is None else entry.subject_of_call(args)
    alone = CompiledLayer(0, _alone(layer, rule, anywhere=not isinstance(context, dict)))
    found = alone.find(subject)
    where = context if isinstance(context, dict) else {}
    for surface in getattr(rule, "on", ()) or Surface:
        part = alone.part(found, surface)
        if part.fired(max(0, part.firing(where, args, now))):
            return True
    return False


def _alone(layer: Layer, rule: AnyRule, *, anywhere: bool) -> Layer:
    """Return the layer with nothing but this rule, switched on, for every call."""
    on = switched_on(rule)
    only = with_rules(layer, [replace(on, when=()) if anywhere else on])
    return replace(only, settings=replace(BARE, fail_safe=layer.settings.fail_safe))
