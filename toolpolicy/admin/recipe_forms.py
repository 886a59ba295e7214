"""The form of a recipe, made from what the recipe is told."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import LinesField, sentence
from toolpolicy.admin.marks import worded
from toolpolicy.admin.words import Words, english
from toolpolicy.engine.faults import Fault, short_name
from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.recipe_options import Option, OptionKind, Recipe
from toolpolicy.engine.words import Mode, Permission

# What each mode is called where tools are sorted by it.
MODES: Final[Mapping[Mode, Words]] = {
    Mode.ON: _("On"),
    Mode.ASK: _("On, after a person said yes"),
    Mode.OFF: _("Off"),
    Mode.AUTO: _("No opinion"),
}
# Under the highest level everything is allowed; that is no ceiling.
CEILINGS: Final = tuple(Permission)[:-1]
A_LINE: Final = _("One a line.")


class RecipeForm(forms.Form):
    """What one recipe is told; `values` gives it as the service takes it."""

    def __init__(self, recipe: Recipe, data: QueryDict | None = None) -> None:
        super().__init__(data, label_suffix="")
        self.recipe = recipe
        for option in recipe.options:
            self.fields |= _fields(option)

    def values(self) -> dict[str, Any]:
        """Return the options by name; toggles are gathered from the field of each mode."""
        found = {
            option.name: self.cleaned_data[option.name]
            for option in self.recipe.options
            if option.kind is not OptionKind.TOGGLES
        }
        if any(option.kind is OptionKind.TOGGLES for option in self.recipe.options):
            found["toggles"] = {
                name: str(mode) for mode in MODES for name in self.cleaned_data[mode]
            }
        return found

    def clean(self) -> dict[str, Any]:
        """Refuse a tool that stands under two modes."""
        seen: dict[str, Mode] = {}
        for mode in MODES:
            for name in self.cleaned_data.get(mode, ()):
                if name in seen:
                    where = MODES[seen[name]]
                    said = gettext("“%(name)s” stands twice: it is under “%(where)s” already.")
                    self.add_error(mode, said % {"name": name, "where": where})
                seen.setdefault(name, mode)
        return self.cleaned_data

    def show(self, faults: tuple[Fault, ...]) -> None:
        """Put each fault on its field."""
        for fault in faults:
            option, *inside = [*tokens(fault.pointer), ""]
            if option == "toggles":
                self.add_error(self._of(inside[0]), sentence(fault, fault.pointer))
            else:
                field = option if option in self.fields else None
                self.add_error(field, sentence(fault, f"/{option}" if field else ""))

    def _of(self, name: str) -> str:
        """Return the field of the mode that a tool stands under; the first one for none."""
        for mode in MODES:
            if name in map(short_name, self.cleaned_data.get(mode, ())):
                return mode
        return Mode.ON

    def hide(self) -> None:
        """Send everything along out of sight."""
        for field in self.fields.values():
            field.widget = field.hidden_widget()


def _fields(option: Option) -> dict[str, forms.Field]:
    about = english(worded(f"{capfirst(option.about)}."))
    said: dict[str, Any] = {"label": english(option.label), "required": option.required}
    match option.kind:
        case OptionKind.PATTERN:
            return {option.name: forms.CharField(help_text=about, **said)}
        case OptionKind.PATTERNS:
            text = format_html("{} {}", A_LINE, about)
            return {option.name: LinesField(help_text=text, **said)}
        case OptionKind.LEVEL:
            field = forms.ChoiceField(
                choices=[(str(level), english(str(level))) for level in CEILINGS],
                widget=forms.RadioSelect,
                help_text=about,
                **said,
            )
            return {option.name: field}
        case OptionKind.TOGGLES:
            return {
                str(mode): LinesField(label=word, help_text=_("One a line. Tools or groups."))
                for mode, word in MODES.items()
            }
