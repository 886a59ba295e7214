"""Form fields for a tool's arguments, made from its input schema; JSON for what is not simple."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from toolpolicy.admin.faults import WireField
from toolpolicy.engine.faults import printable
from toolpolicy.engine.values import ABSENT

# A schema is what a server sends: no more of it than a page holds.
MOST_ARGUMENTS: Final = 40
LONGEST_ABOUT: Final = 200
PREFIX: Final = "argument-"
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One declared argument; `kind` is a simple type, or "" where only JSON can say it."""

    name: str
    kind: str = ""
    required: bool = False
    about: str = ""
    choices: tuple[str, ...] = ()

    def field(self) -> forms.Field:
        """Return the form field that asks for it; none of them must be filled in."""
        label = printable(self.name)
        shown: dict[str, Any] = {"label": label, "required": False, "help_text": self.about}
        if self.choices:
            return _choice(self.choices, shown)
        if self.kind == "boolean":
            return _choice(("true", "false"), shown)
        if self.kind == "string":
            return forms.CharField(strip=False, **shown)
        return _JsonField(kind=self.kind, **shown)

    def holds(self, value: Any) -> bool:
        """Tell whether the field can show this value, and would give it back."""
        if self.choices:
            return value in self.choices
        if self.kind == "string":
            return isinstance(value, str) and bool(value) and value.isprintable()
        return not self.kind or _is(value, self.kind)

    def shown(self, value: Any) -> Any:
        """Return a value as the field holds it."""
        return {True: "true", False: "false"}[value] if self.kind == "boolean" else value

    def read(self, cleaned: Any) -> Any:
        """Return the value that was given, `ABSENT` for none."""
        if cleaned in ("", None):
            return ABSENT
        return cleaned == "true" if self.kind == "boolean" else cleaned


class _JsonField(WireField):
    """A value as JSON, of a simple type where `kind` names one."""

    def __init__(self, *, kind: str, **kwargs: Any) -> None:
        self.kind = kind
        widget = {"widget": forms.TextInput({"class": "is-mono"})} if kind else {}
        super().__init__(nothing=ABSENT, rows=2, **widget, **kwargs)

    def to_python(self, value: Any) -> Any:
        found = super().to_python(value)
        if found is not ABSENT and self.kind and not _is(found, self.kind):
            msg = gettext("This is no %(kind)s. The JSON view takes any value.") % {
                "kind": self.kind
            }
            raise ValidationError(msg)
        return found


def _is(value: Any, kind: str) -> bool:
    # In Python, true is an integer; in JSON it is none.
    return isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)


def _choice(words: tuple[str, ...], shown: dict[str, Any]) -> forms.ChoiceField:
    """Return a field of values, which are the tool's and not ours to translate."""
    offered = [("", gettext("not given")), *((word, printable(word)) for word in words)]
    return forms.ChoiceField(choices=offered, widget=forms.Select({"translate": "no"}), **shown)


def arguments_of(schema: Any) -> list[Argument]:
    """Return the arguments that a schema declares, those that it requires first.

    None where no form can be made of it.
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(properties) > MOST_ARGUMENTS:
        return []
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    found = [_argument(name, item, needed) for name, item in properties.items()]
    return sorted(found, key=lambda argument: (not argument.required, argument.name))


def _argument(name: str, item: Any, needed: set[str]) -> Argument:
    said = item if isinstance(item, dict) else {}
    kind, about, words = said.get("type"), said.get("description"), said.get("enum")
    texts = isinstance(words, list) and all(isinstance(word, str) and word for word in words)
    return Argument(
        name=name,
        kind=kind if isinstance(kind, str) and kind in TYPES else "",
        required=name in needed,
        about=printable(about)[:LONGEST_ABOUT] if isinstance(about, str) else "",
        choices=tuple(words or ()) if texts and kind == "string" else (),
    )


def fit(arguments: list[Argument], value: Any) -> bool:
    """Tell whether a form of these arguments can show this arguments document whole."""
    if value is ABSENT:
        return True
    known = {argument.name: argument for argument in arguments}
    return isinstance(value, dict) and all(
        name in known and known[name].holds(item) for name, item in value.items()
    )


def named(arguments: list[Argument]) -> Iterator[tuple[str, Argument]]:
    """Yield each argument with the name of its field: names of servers are no names of fields."""
    for number, argument in enumerate(arguments):
        yield f"{PREFIX}{number}", argument
