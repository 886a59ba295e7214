"""The form of an import: a list, and the family that its tools become."""

from typing import Final

from django import forms
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.uploads import SOURCE, TEXT, UploadForm
from toolpolicy.services.registry import ToolFormat

FORMATS: Final = (
    (ToolFormat.MCP, _("MCP: what a server answers to tools/list")),
    (ToolFormat.TOOLSPEC, _("ToolSpec: a list of tools with flags such as read_only")),
)


class ImportForm(UploadForm):
    """The list, uploaded or pasted, and the family and prefix of its tools."""

    kinds = _("A JSON file of up to %(size)s.")
    longer = _("Up to %(size)s. A longer list needs a file.")
    nothing = _("Choose a file, or paste the list.")
    field_order = ("format", "file", "text")

    format = forms.ChoiceField(
        label=_("Written as"),
        choices=FORMATS,
        initial=ToolFormat.MCP,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(
        label=_("Tool list"),
        required=False,
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )
    family = forms.CharField(
        max_length=128,
        label=_("Family"),
        help_text=_(
            "The server’s name, for example <code>github</code>. A family that exists "
            "already is brought up to date."
        ),
    )
    name_prefix = forms.CharField(
        max_length=64,
        required=False,
        label=_("Prefix"),
        help_text=_(
            "Put before each name, for example <code>mcp__github__</code>. Empty for a "
            "family that has tools: the one that it has."
        ),
    )

    def upload(self) -> dict[str, str]:
        """Return what is to be imported, as it is held until the person says yes."""
        values = self.cleaned_data
        place = {name: values[name] for name in ("format", "family", "name_prefix")}
        return {**place, SOURCE: self.source, TEXT: values[self.source]}
