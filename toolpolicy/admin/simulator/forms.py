"""The form of a question: the tool, its arguments, the context, the surface."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import WireField, sentence
from toolpolicy.admin.simulator.arguments import Argument, arguments_of, fit, named
from toolpolicy.admin.simulator.links import (
    OWN,
    Link,
    arguments_in,
    context_key,
    parameter,
)
from toolpolicy.engine import canonical
from toolpolicy.engine.faults import Fault, Faults, printable
from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.subjects import RESERVED_CONTEXT
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Surface

SURFACES: Final = (
    (Surface.CALL, _("calls it")),
    (Surface.CATALOG, _("lists tools")),
    (Surface.SEARCH, _("searches tools")),
)
MOST_TOOLS: Final = 1_000
STATED: Final = ("subject", "targets")
FORM: Final = "form"
JSON: Final = "json"


class QuestionForm(forms.Form):
    """One question. `shown` names the tool whose arguments it has fields for, if it has any."""

    tool = forms.CharField(required=False, max_length=200)
    family = forms.CharField(required=False, widget=forms.HiddenInput)
    surface = forms.ChoiceField(
        choices=SURFACES, widget=forms.RadioSelect, initial=Surface.CALL, label=_("The app")
    )
    arguments = WireField(nothing=ABSENT, rows=6)
    others = forms.CharField(
        required=False,
        strip=False,
        label=_("Anything else"),
        widget=forms.Textarea({"rows": 2, "class": "is-mono", "spellcheck": "false"}),
        help_text=_("One a line, as key=value."),
    )
    subject = WireField(
        nothing=ABSENT,
        rows=4,
        label=_("The tool as the app describes it"),
        help_text=_("For a tool that is not registered, in place of its name."),
    )
    targets = WireField(
        nothing=ABSENT,
        rows=3,
        label=_("Tools that the app knows this call to run"),
        help_text=_("A list of objects with tool and arguments."),
    )

    def __init__(
        self,
        *,
        offers: Mapping[str, list[str]],
        entry: Entry | None = None,
        link: Link | None = None,
        data: QueryDict | None = None,
        as_json: bool = False,
    ) -> None:
        self.entry, self.offers = entry, offers
        self.argument_fields: dict[str, Argument] = {}
        super().__init__(data, label_suffix="", initial=self._initial(link or {}, as_json=as_json))
        for name, argument in self.argument_fields.items():
            self.fields[name] = argument.field()
        if self.argument_fields:
            del self.fields["arguments"]
        for key in offers:
            self.fields[parameter(key)] = _context_field(key)

    def _initial(self, link: Link, *, as_json: bool) -> dict[str, Any]:
        """Spread a link over the fields; a form of arguments only where it can show them whole."""
        initial: dict[str, Any] = {name: text for name, text in link.items() if name != "arguments"}
        keys = {name for name in initial if context_key(name)}
        unknown = [name for name in keys if context_key(name) not in self.offers]
        initial["others"] = "\n".join(
            f"{context_key(name)}={initial[name]}" for name in sorted(unknown)
        )
        arguments = arguments_of(self.entry.subject.input_schema) if self.entry else []
        try:
            given = arguments_in(link)
        except Faults:
            return {**initial, "arguments": link["arguments"]}
        if as_json or not arguments or not fit(arguments, given):
            return {**initial, "arguments": link.get("arguments", "") and given}
        self.argument_fields = dict(named(arguments))
        for name, argument in self.argument_fields.items():
            if given is not ABSENT and argument.name in given:
                initial[name] = argument.shown(given[argument.name])
        return initial

    # --- what was asked --------------------------------------------------------------------------

    def clean_others(self) -> dict[str, str]:
        """Read the lines; each has a key and a value."""
        lines = [line for line in self.cleaned_data["others"].splitlines() if line.strip()]
        wrong = [line for line in lines if "=" not in line]
        if wrong:
            said = gettext("%(line)s has no “=”.")
            raise ValidationError([said % {"line": printable(line)[:100]} for line in wrong])
        return {
            key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)
        }

    def link(self) -> Link:
        """Return what was filled in, as far as it can be read."""
        found = self.cleaned_data
        link: Link = {name: found.get(name, "") for name in ("tool", "family", "surface")}
        for key in self.offers:
            link[parameter(key)] = found.get(parameter(key), "")
        link |= {parameter(key): value for key, value in (found.get("others") or {}).items()}
        documents = {name: found.get(name, ABSENT) for name in STATED}
        documents["arguments"] = self._arguments()
        for name, value in documents.items():
            if value is not ABSENT and (name != "arguments" or link["surface"] == Surface.CALL):
                link[name] = canonical.dumps(value)
        return {name: text for name, text in link.items() if text}

    def _arguments(self) -> Any:
        if not self.argument_fields:
            return self.cleaned_data.get("arguments", ABSENT)
        given = {
            argument.name: argument.read(self.cleaned_data.get(name))
            for name, argument in self.argument_fields.items()
        }
        return {name: value for name, value in given.items() if value is not ABSENT}

    def show(self, faults: tuple[Fault, ...]) -> None:
        """Put each fault on its field."""
        for fault in faults:
            # What is missing nowhere in particular is a tool: none is named, or two are.
            place = fault.pointer or ("/tool" if fault.code == "missing" else "")
            path = [*tokens(place), "", ""]
            member, inside = path[0], path[1]
            field = parameter(inside) if member == "context" else member
            if member == "context" and field not in self.fields:
                field = "others"
            if field in self.fields:
                self.add_error(field, sentence(fault, fault.pointer))
            else:
                self.add_error(None, sentence(fault))

    # --- for the page ----------------------------------------------------------------------------

    def arguments_shown(self) -> list[tuple[Argument, forms.BoundField]]:
        """Return the fields of the arguments."""
        return [(argument, self[name]) for name, argument in self.argument_fields.items()]

    def context_shown(self) -> list[tuple[str, forms.BoundField, list[str]]]:
        """Return the fields of the context that most questions have, with values to offer."""
        return [(key, self[key], self.offers[key]) for key in OWN]

    def more_context(self) -> list[tuple[str, forms.BoundField, list[str]]]:
        """Return the fields of other keys that callers sent."""
        keys = [key for key in self.offers if key not in OWN]
        return [(key, self[parameter(key)], self.offers[key]) for key in keys]

    def more_used(self) -> bool:
        """Tell whether one of those is in use, so that they stand open."""
        shown = [*(field for _, field, _ in self.more_context()), self["others"]]
        return any(field.value() or field.errors for field in shown)

    def stated_used(self) -> bool:
        """Tell whether something rare is in use."""
        return any(self[name].value() or self[name].errors for name in STATED)


def _context_field(key: str) -> forms.Field:
    if key in RESERVED_CONTEXT:
        words = [("", gettext("not said")), *((word, word) for word in RESERVED_CONTEXT[key])]
        select = forms.Select({"translate": "no"})
        return forms.ChoiceField(required=False, label=key, choices=words, widget=select)
    field = forms.CharField(required=False, label=printable(key))
    field.widget.attrs |= {"class": "is-mono", "list": f"values-{parameter(key)}"}
    return field
