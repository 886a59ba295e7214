"""An explanation without the values that rules met in what the caller sent."""

from collections.abc import Collection, Mapping
from typing import Any, Final

HIDDEN: Final = "(not shown)"
_EXCEPT: Final = "except "
_WHEN: Final = "when "
_ARGUMENT: Final = "arg "


def without_values(explanation: Mapping[str, Any], context: Collection[str] = ()) -> dict[str, Any]:
    """Return an explanation that names arguments, but no value of one; of `context` keys neither.

    The explanation that is given stays as it is.
    """
    subjects = [
        {**subject, "layers": [_layer(layer, context) for layer in subject["layers"]]}
        for subject in explanation["subjects"]
    ]
    return {**explanation, "subjects": subjects}


def _layer(layer: Mapping[str, Any], context: Collection[str]) -> Mapping[str, Any]:
    if "rules" not in layer:
        return layer
    return {**layer, "rules": [_rule(rule, context) for rule in layer["rules"]]}


def _rule(rule: Mapping[str, Any], context: Collection[str]) -> dict[str, Any]:
    out = _without(rule, context)
    if "met" in rule:
        out["met"] = [_without(one, context) for one in rule["met"]]
    return out


def _without(said: Mapping[str, Any], context: Collection[str]) -> dict[str, Any]:
    """Return `{field, actual}` with its value hidden where that is an argument's or a key's."""
    field = str(said.get("field", "")).removeprefix(_EXCEPT)
    hidden = field.startswith(_ARGUMENT) or field.removeprefix(_WHEN) in context
    return {**said, "actual": HIDDEN} if hidden and said["actual"] is not None else dict(said)
