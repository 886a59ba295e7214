"""The members of a rule as fields of a form: which there are, from wire form, and back to it.

A field's name is its path: `match__hints__destructive` stands at `/match/hints/destructive`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.rule_texts import ItemsField, OptionField, PatternsField, ThreeState
from toolpolicy.admin.words import Words
from toolpolicy.engine import ordered_wire
from toolpolicy.engine.words import Category, Exposure, Hint, Permission, SideEffect

Fields = dict[str, forms.Field]
Wire = Mapping[str, Any]
SEPARATOR: Final = "__"
MOST_ROWS: Final = 40
"""Rows of a member that the form has room for; JSON has no such bound."""

_TEXTS: Final[Mapping[str, tuple[Words, Words]]] = {
    "name": (_("Name is like any of"), _("any name")),
    "family": (_("Family is like any of"), _("any family")),
    "tags": (_("Has a tag like any of"), _("any tags, or none")),
    "group": (_("Group is like any of"), _("any group")),
    "parent": (_("Parent is like any of"), _("any parent")),
    "verb": (_("Verb is like any of"), _("any verb")),
    "method": (_("Method is like any of"), _("any method")),
    "scope": (_("Scope is like any of"), _("any scope")),
}
_HINTS: Final[Mapping[str, Words]] = {
    Hint.READ_ONLY: _("only reads"),
    Hint.DESTRUCTIVE: _("destroys"),
    Hint.IDEMPOTENT: _("may be repeated"),
    Hint.OPEN_WORLD: _("reaches outside"),
    Hint.NEEDS_APPROVAL: _("needs approval"),
    Hint.CACHEABLE_APPROVAL: _("needs it only once"),
}
_NAME: Final = {"class": "tp-mono", "translate": "no"}
_SIDE_EFFECTS: Final = tuple((str(one), one.replace("_", " ")) for one in SideEffect)
_LEVELS: Final = (("", _("any")), *((str(one), str(one)) for one in Permission))

WHEN, APPROVAL = "when", "approval"


class RowFaults(NamedTuple):
    """What is said of a row that lacks a half, or whose key another row has."""

    no_key: Words
    no_value: Words
    twice: Words


_ROW_FAULTS: Final = {
    WHEN: RowFaults(
        _("Name the context key."),
        _("Say what the value is like."),
        _("Another condition asks for this key; put both into one."),
    ),
    APPROVAL: RowFaults(
        _("Name the option."), _("Say its value."), _("Another line sets this option.")
    ),
}


def _ticks(choices: Iterable[tuple[str, str]], label: Words) -> forms.Field:
    """Return boxes for words of the policy's own language, which are the same in every other."""
    widget = forms.CheckboxSelectMultiple({"translate": "no"})
    return forms.MultipleChoiceField(
        choices=tuple(choices), widget=widget, required=False, label=label
    )


def matcher_fields(at: str, *, ordered: bool) -> Fields:
    """Return the fields of a matcher that stands at this member."""
    make = ItemsField if ordered else PatternsField
    fields: Fields = {
        f"{at}__{name}": make(label=label, placeholder=shown)
        for name, (label, shown) in _TEXTS.items()
    }
    if ordered:
        hints = {name: _HINTS[hint] for name, hint in ordered_wire.HINTS.items()}
        return fields | {f"{at}__{name}": ThreeState(label=label) for name, label in hints.items()}
    words = [(str(one), str(one)) for one in Category]
    fields[f"{at}__category"] = _ticks(words, _("Category is any of"))
    words = [(str(one), str(one)) for one in Exposure]
    fields[f"{at}__exposure"] = _ticks(words, _("Exposure is any of"))
    for name, label in (("at_least", _("Permission from")), ("at_most", _("up to"))):
        select = forms.Select({"translate": "no"})
        level = forms.ChoiceField(choices=_LEVELS, required=False, label=label, widget=select)
        fields[f"{at}__permission_{name}"] = level
    fields[f"{at}__side_effects"] = _ticks(_SIDE_EFFECTS, _("Has any of these side effects"))
    fields |= {f"{at}__hints__{hint}": ThreeState(label=_HINTS[hint]) for hint in Hint}
    pointer = forms.TextInput({"list": "tp-pointers", "placeholder": "/path", **_NAME})
    fields[f"{at}__arg__pointer"] = forms.CharField(
        required=False, label=_("Argument of the call"), widget=pointer, strip=False
    )
    value = PatternsField(label=_("is like any of"), placeholder=_("a value pattern"))
    return {**fields, f"{at}__arg__value": value}


def row_fields(at: str, number: int, *, ordered: bool) -> Fields:
    """Return the fields of one row of `when`: a key, and the patterns of its value."""
    key = forms.TextInput({"list": "tp-keys", "placeholder": "channel", **_NAME})
    make = ItemsField if ordered else PatternsField
    return {
        f"{at}__{number}__key": forms.CharField(
            required=False, label=_("Context key"), widget=key, strip=False
        ),
        f"{at}__{number}__value": make(label=_("is like any of"), placeholder=_("a value pattern")),
    }


def option_fields(at: str, number: int) -> Fields:
    """Return the fields of one row of the approval options: a name, and its value."""
    name = forms.TextInput({"placeholder": "group", "class": "tp-mono"})
    return {
        f"{at}__{number}__key": forms.CharField(
            required=False, label=_("Option"), widget=name, strip=False
        ),
        f"{at}__{number}__value": OptionField(label=_("Value"), placeholder="finance"),
    }


def from_wire(at: str, matcher: Wire | None) -> dict[str, Any]:
    """Return a matcher as the values of its fields; a single pattern as a list of one."""
    found: dict[str, Any] = {}
    for name, value in (matcher or {}).items():
        inner = value if isinstance(value, dict) else {"": value}
        for deeper, part in inner.items():
            path = f"{at}__{name}__{deeper}" if deeper else f"{at}__{name}"
            text = (
                isinstance(part, str) and not name.startswith("permission") and deeper != "pointer"
            )
            found[path] = [part] if text else part
    return found


def to_wire(at: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a matcher of what its fields hold; a field that holds nothing asks nothing."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if not name.startswith(at + SEPARATOR) or value in (None, "", []):
            continue
        member, _, deeper = name.removeprefix(at + SEPARATOR).partition(SEPARATOR)
        if deeper:
            found.setdefault(member, {})[deeper] = value
        else:
            found[member] = value
    return found


def rows_from_wire(at: str, held: Wire) -> dict[str, Any]:
    """Return a member that has rows as the values of their fields."""
    found: dict[str, Any] = {}
    for number, (key, value) in enumerate(held.items()):
        found[f"{at}__{number}__key"] = key
        found[f"{at}__{number}__value"] = value
    return found


def rows_to_wire(at: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a member that has rows, of what their fields hold."""
    return {
        key: values.get(row_of(name) + "value")
        for name, key in values.items()
        if is_key(at, name) and key
    }


def row_faults(
    at: str, values: Mapping[str, Any], wrong: Collection[str]
) -> Iterator[tuple[str, Words]]:
    """Yield what is amiss with the rows of a member, each with its field; `wrong` are told of."""
    told, taken = _ROW_FAULTS[at], set()
    for name in [name for name in values if is_key(at, name)]:
        field = row_of(name) + "value"
        key, value = values[name], values.get(field)
        if key in taken and key:
            yield name, told.twice
        elif key and value is None and field not in wrong:
            yield field, told.no_value
        elif value is not None and not key:
            yield name, told.no_key
        taken.add(key)


def is_key(at: str, name: str) -> bool:
    """Tell whether a field is the key of a row."""
    return name.startswith(at + SEPARATOR) and name.endswith(f"{SEPARATOR}key")


def row_of(name: str) -> str:
    """Return what the names of a row's fields begin with."""
    return name.removesuffix("key")


def fits(fields: Mapping[str, forms.Field], values: Mapping[str, Any]) -> bool:
    """Tell whether these fields can show these values and give them back as they are."""
    if not values.keys() <= fields.keys():
        return False
    # An empty text is no condition to the form; to the engine, an empty pointer is one.
    return all(
        _keeps(fields[name], value) and (value != "" or SEPARATOR not in name)
        for name, value in values.items()
    )


def _keeps(field: forms.Field, value: Any) -> bool:
    if isinstance(field, forms.BooleanField | forms.DateTimeField):
        return isinstance(value, bool | datetime)
    shown = field.prepare_value(value)
    texts = shown if isinstance(shown, list) else [shown]
    breaks = "\n" if isinstance(field.widget, forms.Textarea) else ""
    if not all(isinstance(text, str) and text.replace(breaks, "").isprintable() for text in texts):
        return False
    try:
        kept = field.clean(shown)
    except forms.ValidationError:
        return False
    return bool(_as_list(kept, field) == _as_list(value, field))


def _as_list(value: Any, field: forms.Field) -> Any:
    if not isinstance(field, PatternsField) or value is None:
        return value
    texts = [value] if isinstance(value, str) else value
    if isinstance(field, ItemsField):
        return [piece.strip() for text in texts for piece in text.split(",")]
    return texts
