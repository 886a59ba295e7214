"""Strict layers and their rules, wire ⇄ values (SPEC §3; vectors R20–R23)."""

from collections.abc import Iterator
from typing import Any

from toolpolicy.engine.faults import join
from toolpolicy.engine.reading import Reader, present
from toolpolicy.engine.values import (
    AnySideEffect,
    AnyTagIs,
    ArgumentIs,
    Condition,
    HintIs,
    OneOf,
    Patterns,
    PermissionIs,
    Rule,
    StrictLayer,
    TextIs,
    When,
)
from toolpolicy.engine.words import (
    Category,
    Default,
    Effect,
    Exposure,
    Hint,
    Permission,
    SideEffect,
    Surface,
)

TEXT_FIELDS = ("name", "family", "group", "parent", "verb", "method", "scope")
ENUM_FIELDS: dict[str, type[Category] | type[Exposure]] = {
    "category": Category,
    "exposure": Exposure,
}
MATCHER_FIELDS = (
    *(
        "name",
        "family",
        "tags",
        "category",
        "exposure",
        "permission_at_least",
        "permission_at_most",
    ),
    *("side_effects", "group", "parent", "verb", "method", "scope", "hints", "arg"),
)
RULE_MEMBERS = ("id", "effect", "on", "match", "except", "when", "reason")
LAYER_MEMBERS = ("name", "default", "rules")


def read_layer(reader: Reader, value: Any, at: str) -> StrictLayer:
    """Read a published layer `{name?, default?, rules?}`."""
    members = reader.members(value, at, LAYER_MEMBERS)
    name = reader.text(members["name"], f"{at}/name") if present(members, "name") else None
    default = Default.ALLOW
    if "default" in members:
        default = reader.word(members["default"], f"{at}/default", Default) or default
    rules = members.get("rules", [])
    read = reader.items(rules, f"{at}/rules", lambda item, where: read_rule(reader, item, where))
    return StrictLayer(name=name, default=default, rules=read)


def read_rule(reader: Reader, value: Any, at: str) -> Rule | None:
    """Read one rule; None when it has no readable effect."""
    members = reader.members(value, at, RULE_MEMBERS)
    if not isinstance(value, dict):
        return None
    if "effect" not in members:
        reader.fault(at, "a rule needs an `effect`", "missing")
        effect = None
    else:
        effect = reader.word(members["effect"], f"{at}/effect", Effect)
    on = reader.words(members["on"], f"{at}/on", Surface) if "on" in members else ()
    match = read_matcher(reader, members["match"], f"{at}/match") if "match" in members else ()
    exception = None
    if present(members, "except"):
        exception = read_matcher(reader, members["except"], f"{at}/except")
    when = read_when(reader, members["when"], f"{at}/when") if "when" in members else ()
    rule_id, reason = read_labels(reader, members, at)
    if effect is None:
        return None
    return Rule(
        effect=effect, on=on, match=match, exception=exception, when=when, id=rule_id, reason=reason
    )


def read_labels(reader: Reader, members: dict[str, Any], at: str) -> tuple[str | None, str | None]:
    """Read the optional `id` and `reason`."""
    rule_id = reader.text(members["id"], f"{at}/id") if present(members, "id") else None
    reason = reader.text(members["reason"], f"{at}/reason") if present(members, "reason") else None
    return rule_id, reason


def read_when(reader: Reader, value: Any, at: str) -> When:
    """Read context conditions, in key order."""
    if not reader.has_kind(value, dict, at):
        return ()
    return tuple((key, reader.patterns(value[key], join(at, key))) for key in sorted(value))


def read_matcher(reader: Reader, value: Any, at: str) -> tuple[Condition, ...]:
    """Read a matcher into its conditions, in the order of `MATCHER_FIELDS`."""
    members = reader.members(value, at, MATCHER_FIELDS)
    return tuple(
        condition
        for field in MATCHER_FIELDS
        if present(members, field)
        for condition in _read_field(reader, field, members[field], f"{at}/{field}")
    )


def _read_field(reader: Reader, field: str, value: Any, at: str) -> Iterator[Condition]:
    if field in TEXT_FIELDS:
        yield TextIs(field, reader.patterns(value, at))
    elif field == "tags":
        yield AnyTagIs(reader.patterns(value, at))
    elif field in ENUM_FIELDS:
        yield OneOf(field, reader.words(value, at, ENUM_FIELDS[field]))
    elif field == "side_effects":
        yield AnySideEffect(reader.words(value, at, SideEffect))
    elif field == "hints":
        yield from _read_hints(reader, value, at)
    elif field == "arg":
        yield from _read_argument(reader, value, at)
    elif (level := reader.word(value, at, Permission)) is not None:
        yield PermissionIs(level, or_higher=field == "permission_at_least")


def _read_hints(reader: Reader, value: Any, at: str) -> Iterator[HintIs]:
    members = reader.members(value, at, list(Hint))
    for hint in Hint:
        if (
            hint in members
            and (wanted := reader.boolean(members[hint], f"{at}/{hint}")) is not None
        ):
            yield HintIs(hint, wanted)


def _read_argument(reader: Reader, value: Any, at: str) -> Iterator[ArgumentIs]:
    # Unknown members of `arg` are ignored, as published (R20).
    if not reader.has_kind(value, dict, at):
        return
    for name in ("pointer", "value"):
        if name not in value:
            reader.fault(at, f"an argument condition needs a `{name}`", "missing")
    pointer = reader.text(value["pointer"], f"{at}/pointer") if "pointer" in value else None
    patterns = reader.patterns(value["value"], f"{at}/value") if "value" in value else ()
    if pointer is not None:
        yield ArgumentIs(pointer, patterns)


# --- values → wire -------------------------------------------------------------------------------


def write_layer(layer: StrictLayer) -> dict[str, Any]:
    """Write a layer as published: `default` and `rules` always, null members never."""
    name = {} if layer.name is None else {"name": layer.name}
    return {
        **name,
        "default": str(layer.default),
        "rules": [write_rule(rule) for rule in layer.rules],
    }


def write_rule(rule: Rule) -> dict[str, Any]:
    """Write a rule as published: `match` always, an empty `on` or `when` never."""
    out: dict[str, Any] = {"effect": str(rule.effect)}
    if rule.id is not None:
        out["id"] = rule.id
    if rule.on:
        out["on"] = [str(surface) for surface in rule.on]
    out["match"] = write_matcher(rule.match)
    if rule.exception is not None:
        out["except"] = write_matcher(rule.exception)
    if rule.when:
        out["when"] = {key: write_patterns(patterns) for key, patterns in rule.when}
    if rule.reason is not None:
        out["reason"] = rule.reason
    return out


def write_patterns(patterns: Patterns) -> str | list[str]:
    """Write one pattern as a string, none or several as a list."""
    return patterns[0] if len(patterns) == 1 else list(patterns)


def write_matcher(conditions: tuple[Condition, ...]) -> dict[str, Any]:
    """Write conditions as the members of a matcher."""
    out: dict[str, Any] = {}
    for condition in conditions:
        _write_condition(condition, out)
    return out


def _write_condition(condition: Condition, out: dict[str, Any]) -> None:
    match condition:
        case TextIs(field, patterns):
            out[field] = write_patterns(patterns)
        case AnyTagIs(patterns):
            out["tags"] = write_patterns(patterns)
        case OneOf(field, values):
            out[field] = [str(value) for value in values]
        case PermissionIs(level, or_higher):
            out["permission_at_least" if or_higher else "permission_at_most"] = str(level)
        case AnySideEffect(flags):
            out["side_effects"] = [str(flag) for flag in flags]
        case HintIs(hint, value):
            out.setdefault("hints", {})[str(hint)] = value
        case _:
            wanted = write_patterns(condition.patterns)
            out["arg"] = {"pointer": condition.pointer, "value": wanted}
