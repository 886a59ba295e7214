"""Patterns and examples as people type them: one line of text, and back without a loss."""

import json
import re
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import WireWidget, sentence
from toolpolicy.admin.words import Words, filled
from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Faults

# Script reads a line in the same way (chips.js).
_PIECE: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"(?=\s*(?:,|$))|([^,]*))\s*(?:,|$)')


def split_patterns(text: str) -> list[str]:
    """Return the patterns of a line: commas part them, double quotes keep what stands inside.

    >>> split_patterns('*delete*, "a, b" ,"x ""y"" z"')
    ['*delete*', 'a, b', 'x "y" z']
    """
    found = []
    for match in _PIECE.finditer(text):
        quoted, plain = match.groups()
        if quoted is not None:
            found.append(quoted.replace('""', '"'))
        elif piece := plain.strip():
            found.append(piece)
    return found


def join_patterns(patterns: list[str]) -> str:
    """Return patterns as one line, quoted where a comma, a quote or a blank at an end needs it.

    >>> join_patterns(['*delete*', 'a, b'])
    '*delete*, "a, b"'
    """
    return ", ".join(map(_quoted, patterns))


def _quoted(pattern: str) -> str:
    plain = pattern and not {",", '"'} & set(pattern) and pattern == pattern.strip()
    return pattern if plain else '"' + pattern.replace('"', '""') + '"'


class PatternsField(forms.CharField):
    """Patterns in one line, the wire form as its value; script makes chips of it."""

    def __init__(self, *, placeholder: Words = "", **kwargs: Any) -> None:
        attrs = {"data-chips": "", "spellcheck": "false"}
        widget = forms.TextInput({**attrs, "class": "tp-mono", "placeholder": placeholder})
        super().__init__(**{"required": False, "strip": False, "widget": widget, **kwargs})

    def to_python(self, value: Any) -> Any:
        """Return one pattern as a text, several as a list, None for none."""
        found = split_patterns(super().to_python(value) or "")
        return (found[0] if len(found) == 1 else found) if found else None

    def prepare_value(self, value: Any) -> Any:
        """Show stored patterns; a line that was typed is a text as well, and stays."""
        return join_patterns(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != self.to_python(self.prepare_value(initial)))


class ItemsField(PatternsField):
    """Match-items of an ordered rule: commas part them there too, so that the text is the value."""

    def to_python(self, value: Any) -> Any:
        text: str = forms.CharField.to_python(self, value) or ""
        return text.strip() or None

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


class OptionField(forms.CharField):
    """A text, a number, true or false. A text that reads like one of the others has no field."""

    def __init__(self, *, placeholder: str = "", **kwargs: Any) -> None:
        widget = forms.TextInput({"class": "tp-mono", "placeholder": placeholder})
        super().__init__(**{"required": False, "widget": widget, **kwargs})

    def to_python(self, value: Any) -> Any:
        """Return what the text says, None for nothing."""
        text = super().to_python(value)
        if not text:
            return None
        try:
            found = strictjson.loads(text.encode("utf-8", "surrogatepass"))
        except Faults:
            return text
        if isinstance(found, list | dict):
            raise ValidationError(_("A list or an object has no field: write it as JSON."))
        return found if isinstance(found, bool | int | float) else text

    def prepare_value(self, value: Any) -> Any:
        """Show a stored value as JSON has it, and a text plainly."""
        return json.dumps(value) if isinstance(value, bool | int | float) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != (data or None))


class ThreeState(forms.TypedChoiceField):
    """Yes, no, or not asked about."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            choices=(("", _("any")), ("true", _("yes")), ("false", _("no"))),
            coerce=lambda text: text == "true",
            empty_value=None,
            required=False,
            widget=forms.RadioSelect,
            initial="",
            **kwargs,
        )

    def prepare_value(self, value: Any) -> Any:
        """Show a stored value as the choice that it is."""
        return {True: "true", False: "false", None: ""}.get(value, value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != (data or ""))


class ExamplesField(forms.CharField):
    """Calls, one a line: the name of a tool, or JSON where more is to be said."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "widget": WireWidget(rows=3), **kwargs})

    def to_python(self, value: Any) -> Any:
        """Return the examples. Every fault is named with its line."""
        lines = (super().to_python(value) or "").splitlines()
        found, faults = [], []
        for number, line in enumerate(lines, 1):
            try:
                found += [_example(line.strip())] if line.strip() else []
            except Faults as refused:
                said = gettext("Line %(number)s: %(fault)s")
                faults += [
                    filled(said, number=number, fault=sentence(fault)) for fault in refused.faults
                ]
        if faults:
            raise ValidationError(faults)
        return found

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(_line, value)) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or []))
        except ValidationError:
            return True


def _example(line: str) -> Any:
    if line[0] in '{["':
        return strictjson.loads(line.encode("utf-8", "surrogatepass"))
    return {"tool": line}


def _line(example: Any) -> str:
    if isinstance(example, dict) and list(example) == ["tool"] and _is_plain(example["tool"]):
        return str(example["tool"])
    return json.dumps(example, ensure_ascii=False)


def _is_plain(name: Any) -> bool:
    return isinstance(name, str) and name != "" and name[0] not in '{["' and name == name.strip()
