"""The forms of a tool: what is laid over its declaration, and the declaration of a new one."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import SEEN, VersionedForm, WireField, sentence
from toolpolicy.admin.masking_forms import MaskingForm
from toolpolicy.engine.faults import Fault
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.models.choices import FamilyKind

LAID = ("overrides", "dispatcher", "privilege")


class LaidForm(MaskingForm):
    """What an admin lays over a tool's declaration."""

    overrides = WireField(
        nothing={},
        rows=5,
        label=_("Overrides"),
        help_text=_(
            "Attributes that count instead of the declared ones. For example "
            '<code>{"permission": "Dangerous", "tags": ["finance"], "hints": {"destructive": '
            "true}}</code>; <code>null</code> makes one unknown. Empty: it is taken at its word."
        ),
    )
    dispatcher = WireField(
        nothing=None,
        rows=5,
        label=_("Dispatcher"),
        help_text=_(
            "Where its arguments name the tool that really runs. For example "
            '<code>{"target": "/tool", "arguments": "/arguments"}</code>. Empty: it runs itself.'
        ),
    )
    privilege = WireField(
        nothing=None,
        rows=5,
        label=_("Privilege"),
        help_text=_(
            "Which arguments raise its permission. For example "
            '<code>[{"pointer": "/sql", "patterns": ["drop *"], "level": "Dangerous"}]</code>. '
            "Empty: none."
        ),
    )

    class Meta:
        model = Tool
        fields = LAID


class ToolForm(VersionedForm, LaidForm):
    """What an admin changes of a registered tool."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial[SEEN] = self.instance.version

    def recorded_as(self) -> dict[str, str]:
        return {"family": self.instance.family.name, "tool": self.instance.name}

    def changed_values(self) -> dict[str, Any]:
        """Return what is laid over it otherwise than what is stored."""
        values = self.values(name for name in self.changed_data if name in LAID)
        return {**values, **self.masking_changed()}


class NewToolForm(LaidForm):
    """A tool that is declared by hand."""

    family = forms.ModelChoiceField(
        ToolFamily.objects.exclude(kind=FamilyKind.MCP_SERVER),
        label=_("Family"),
        help_text=_("Tool packs and connectors. The tools of an MCP server are imported."),
    )
    document = WireField(
        nothing={},
        rows=14,
        label=_("Declaration"),
        help_text=_(
            'What the tool is, as JSON. For example <code>{"name": "payments_refund", "title": '
            '"Refund a payment", "description": "…", "permission": "Dangerous", "hints": '
            '{"destructive": false, "needs_approval": true}, "input_schema": {…}}</code>. '
            "What it leaves out stays unknown."
        ),
    )

    class Meta:
        model = Tool
        fields = ("family", *LAID)

    def declaration(self) -> dict[str, Any]:
        """Return the arguments of the service."""
        values = self.cleaned_data
        return {
            "family": values["family"].name,
            "document": values["document"],
            # What was left empty stays as it is where the tool is registered already.
            "laid": {
                **self.values(name for name in self.changed_data if name in LAID),
                **self.masking_changed(),
            },
        }

    def placed(self, fault: Fault) -> tuple[str | None, str]:
        """Put whatever is not about a laid member on the declaration."""
        member = fault.pointer.removeprefix("/").partition("/")[0]
        if member in (*LAID, "masking"):
            return super().placed(fault)
        if fault.code == "version_required":
            name = self.cleaned_data["document"]["name"]
            said = gettext(
                "There is a tool %(name)s already. What is laid over it is changed on its page."
            )
            return "document", said % {"name": name}
        return "family" if fault.code == "imported_family" else "document", sentence(fault)
