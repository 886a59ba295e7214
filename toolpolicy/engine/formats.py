"""Policies in the forms in which other people write them, read into layers (SPEC §4, §10).

`toolpolicy/1` documents, bare tinytools layers (a list), captain's ordered policy (a list of
`{match, mode}`, bare or as `toolPolicy`) and the legacy `toolPreferences` map beside or without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final

from toolpolicy.engine import ordered_wire, strict_wire
from toolpolicy.engine.documents import product_reader, read_policy
from toolpolicy.engine.faults import Fault, join, shown
from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.matchitems import trim
from toolpolicy.engine.reading import Reader, each, kind_of
from toolpolicy.engine.values import (
    Layer,
    LayerSettings,
    OrderedLayer,
    OrderedRule,
    Patterns,
    Policy,
    Selector,
)
from toolpolicy.engine.words import Mode, Scope

POLICY_MEMBER: Final = "toolPolicy"
PREFERENCES_MEMBER: Final = "toolPreferences"
WRAPPER_MEMBERS: Final = (POLICY_MEMBER, PREFERENCES_MEMBER)
# The older words of a preference, read as modes there and nowhere else (SPEC §4).
OLD_MODES: Final[Mapping[str, Mode]] = {"allow": Mode.ON, "deny": Mode.OFF}
# A prompt may have members such as `tools` of its own: only what is nearly ours is a slip.
_NEAR: Final = 0.8


class Form(StrEnum):
    """How a policy is written."""

    POLICY = "policy document"
    LAYERS = "tinytools layers"
    ORDERED = "ordered policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where layers go that do not say it themselves, and the name of those without one."""

    name: str = "imported"
    scope: Scope = Scope.CONFIG
    target: Patterns | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where one layer stands in what was given: pointers to it, its name and its rules."""

    place: str
    name: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read: the form, the layers, and for each layer where it stands."""

    form: Form
    policy: Policy
    sources: tuple[Source, ...]


def read_any(document: Any, place: Place | None = None) -> Reading:
    """Read a policy in any of the forms; `place` is for those that name none (default: config).

    Raises `Faults` with every fault, its pointer into `document`.
    """
    reader = product_reader()
    if not is_bare(document):
        if place is not None:
            reader.fault("", "a policy document names scope, target and names of its layers itself")
        return _read_policy(reader, document)
    place = place or Place()
    _check_place(reader, place)
    if isinstance(document, list) and not _is_ordered(document):
        return _read_layers(reader, document, place)
    return _read_wrapped(reader, document, place)


def is_bare(document: Any) -> bool:
    """Tell what does not say where its rules belong, be a member mistyped, from a policy document.

    >>> is_bare([]), is_bare({"toolpolicy": []}), is_bare({"layers": []})
    (True, True, False)
    """
    if not isinstance(document, dict):
        return True
    named = any("tool" in ascii_lower(name) for name in document)
    return named and "format" not in document and "layers" not in document


def _is_ordered(items: Sequence[Any]) -> bool:
    """Tell a list of ordered rules from a list of layers by what its items say most."""
    words = [name for item in items if isinstance(item, dict) for name in item]
    ordered = sum(name in ("match", "mode") for name in words)
    return ordered > sum(name in ("rules", "default") for name in words)


def _check_place(reader: Reader, place: Place) -> None:
    if place.scope is Scope.CONFIG and place.target is not None:
        reader.fault("", "a config layer has no target: it always applies")
    if place.scope is not Scope.CONFIG and place.target is None:
        reader.fault("", f"a layer of scope `{place.scope}` needs a target", "missing")
    if not place.name:
        reader.fault("", "a layer needs a name that is not empty", "missing")


def _read_policy(reader: Reader, document: dict[str, Any]) -> Reading:
    policy = read_policy(reader, document)
    sources = [
        Source(
            place=f"/layers/{number}",
            name=f"/layers/{number}/policy/name",
            rules=_below(f"/layers/{number}/policy/rules", layer.rules),
        )
        for number, layer in enumerate(policy.layers)
    ]
    return Reading(form=Form.POLICY, policy=policy, sources=tuple(sources))


def _below(at: str, items: Iterable[Any]) -> tuple[str, ...]:
    return tuple(f"{at}/{number}" for number, _ in enumerate(items))


# --- tinytools layers ----------------------------------------------------------------------------


def _read_layers(reader: Reader, document: list[Any], place: Place) -> Reading:
    """Read bare layers: as published not fail-safe, and they may waive approval (SPEC §3, §5)."""
    read = [
        strict_wire.read_layer(reader, item, f"/{number}") for number, item in enumerate(document)
    ]
    names = [layer.name or _numbered(place.name, len(read), n) for n, layer in enumerate(read)]
    reader.unique(names, "", "name")
    for number, item in enumerate(document):
        rules = item.get("rules") if isinstance(item, dict) else None
        reader.unique(each(rules, "id"), f"/{number}/rules", "id")
    layers: list[Layer] = [
        replace(layer, name=name, settings=_settings(place, number, may_waive=True))
        for number, (layer, name) in enumerate(zip(read, names, strict=True))
    ]
    sources = [
        Source(
            place=f"/{number}",
            name=f"/{number}/name",
            rules=_below(f"/{number}/rules", layer.rules),
        )
        for number, layer in enumerate(read)
    ]
    return reader.finish(_reading(Form.LAYERS, layers, sources))


def _numbered(name: str, count: int, index: int) -> str:
    return name if count == 1 else f"{name} {index + 1}"


def _settings(place: Place, position: int, *, may_waive: bool) -> LayerSettings:
    return LayerSettings(
        scope=place.scope,
        target=place.target,
        position=position,
        may_waive_approval=may_waive or place.scope is Scope.CONFIG,
    )


def _reading(form: Form, layers: Iterable[Layer], sources: Iterable[Source]) -> Reading:
    return Reading(form=form, policy=Policy(layers=tuple(layers)), sources=tuple(sources))


# --- the ordered policy --------------------------------------------------------------------------


def _read_wrapped(reader: Reader, document: Any, place: Place) -> Reading:
    """Read ordered rules, the preferences before them, into one layer."""
    if isinstance(document, list):
        members, at = {POLICY_MEMBER: document}, ""
    else:
        members, at = reader.members(document, "", WRAPPER_MEMBERS), f"/{POLICY_MEMBER}"
    preferences, places = _read_preferences(reader, members.get(PREFERENCES_MEMBER, {}))
    written = members.get(POLICY_MEMBER, [])
    rules = reader.items(written, at, lambda item, to: ordered_wire.read_rule(reader, item, to))
    reader.unique(each(written, "id"), at, "id")
    layer = OrderedLayer(
        name=place.name,
        rules=(*preferences, *rules),
        settings=_settings(place, 0, may_waive=False),
    )
    source = Source(place="", name="", rules=(*places, *_below(at, rules)))
    return reader.finish(_reading(Form.ORDERED, [layer], [source]))


def preferences_layer(preferences: Mapping[str, str], place: Place) -> OrderedLayer:
    """Return the layer that a legacy map stands for. Raises `Faults`."""
    reader = product_reader()
    _check_place(reader, place)
    rules, _ = _read_preferences(reader, dict(preferences))
    settings = _settings(place, 0, may_waive=False)
    return reader.finish(OrderedLayer(name=place.name, rules=tuple(rules), settings=settings))


def _read_preferences(reader: Reader, value: Any) -> tuple[list[OrderedRule], list[str]]:
    """Read a legacy map: all keys as groups, then all as names, so that a name beats its group."""
    at = f"/{PREFERENCES_MEMBER}"
    if not reader.has_kind(value, dict, at):
        return [], []
    modes = {key: _old_mode(reader, value[key], join(at, key)) for key in sorted(value)}
    rules: list[OrderedRule] = []
    places: list[str] = []
    for field in ("group", "name"):
        for key, mode in modes.items():
            # Through the reader once: it would note the same fault for the group and the name.
            if field == "group":
                ordered_wire.read_match(reader, {field: key}, join(at, key))
            if mode is not None:
                rules.append(OrderedRule(match=(Selector(field, (key,)),), mode=mode))
                places.append(join(at, key))
    return rules, places


def _old_mode(reader: Reader, value: Any, at: str) -> Mode | None:
    word = ascii_lower(trim(value)) if isinstance(value, str) else ""
    return OLD_MODES.get(word) or ordered_wire.read_mode(reader, value, at)


# --- front matter --------------------------------------------------------------------------------


def pick(front_matter: Any) -> tuple[dict[str, Any], list[Fault]]:
    """Return the policy members of a prompt's front matter, whose other members are its own.

    The faults name a member that is nearly one of ours, and say so when there is none at all.
    """
    if not isinstance(front_matter, dict):
        return {}, [Fault("", f"expected an object, found {kind_of(front_matter)}")]
    found = {name: value for name, value in front_matter.items() if name in WRAPPER_MEMBERS}
    faults = [
        Fault(
            join("", name),
            f"unknown member {shown(name)}; did you mean `{near[0]}`",
            "unknown_member",
        )
        for name in front_matter
        if name not in found
        and (near := get_close_matches(name[:64], WRAPPER_MEMBERS, n=1, cutoff=_NEAR))
    ]
    if not found and not faults:
        message = f"the front matter has no `{POLICY_MEMBER}` and no `{PREFERENCES_MEMBER}`"
        faults.append(Fault("", message, "missing"))
    return found, faults
