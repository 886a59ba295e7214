"""The form of a policy's import: a file, what becomes of the layers that are there, and where."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import LinesField
from toolpolicy.admin.uploads import FILE, SOURCE, TEXT, UploadForm
from toolpolicy.models.choices import Scope
from toolpolicy.services.documents.sources import SYNTAXES, Syntax, guess, guess_pasted
from toolpolicy.services.policies import ImportMode
from toolpolicy.services.policy_files import UNTITLED

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

AS_NAMED: Final = ""
PLACE: Final = ("scope", "target", "name")


class PolicyForm(UploadForm):
    """A policy in any form that can be read."""

    kinds = _("A JSON, YAML or prompt file of up to %(size)s.")
    longer = _("Up to %(size)s. A longer policy needs a file.")
    nothing = _("Choose a file, or paste the policy.")
    field_order = ("mode", "file", "text", "syntax")

    mode = forms.ChoiceField(
        label=_("What to do"),
        choices=(
            (ImportMode.ADD, _("Add its layers: those that are there stay")),
            (ImportMode.REPLACE, _("Make it the policy: layers that it does not name are deleted")),
        ),
        initial=ImportMode.ADD,
        widget=forms.RadioSelect({"class": "tp-options"}),
    )
    file = forms.FileField(
        label=_("Policy"), required=False, widget=forms.FileInput({"accept": ",".join(SYNTAXES)})
    )
    syntax = forms.ChoiceField(
        label=_("Written as"),
        choices=(
            (AS_NAMED, _("As the file’s name says; pasted JSON is recognised")),
            (Syntax.JSON, "JSON"),
            (Syntax.YAML, "YAML"),
            (Syntax.PROMPT, _("A prompt with front matter")),
        ),
        required=False,
        widget=forms.RadioSelect,
    )
    scope = forms.ChoiceField(
        label=_("Applies to"),
        choices=(
            ("", _("Every call")),
            (Scope.AGENT, _("Calls of some agents")),
            (Scope.CHANNEL, _("Calls that come from some channels")),
            (Scope.SESSION, _("Calls in some sessions")),
        ),
        required=False,
    )
    target = LinesField(label=_("Which ones"), help_text=_("One pattern a line."))
    name = forms.CharField(
        max_length=200,
        required=False,
        label=_("Name of the layer"),
        help_text=_("Left empty, it gets the file’s."),
    )

    def policy_fields(self) -> list[forms.BoundField]:
        """Return the fields about the policy itself."""
        return [field for field in self if field.name not in PLACE]

    def place_fields(self) -> list[forms.BoundField]:
        """Return the fields about where rules belong."""
        return [self[name] for name in PLACE]

    def clean(self) -> dict[str, Any]:
        """Find out how it is written, and see that scope and target fit together."""
        values = super().clean()
        if FILE in values and not values.get("syntax"):
            values["syntax"] = self._as_named()
        if "scope" in values and bool(values["scope"]) != bool(values.get("target")):
            needs = gettext("Say for which ones, a pattern a line.")
            none = gettext("Say above what these name: agents, channels or sessions.")
            self.add_error("target", needs if values["scope"] else none)
        return values

    def _as_named(self) -> str:
        if not self.cleaned_data[FILE]:
            pasted = guess_pasted(self.cleaned_data.get(TEXT, ""))
            if pasted is None:
                self.add_error("syntax", gettext("Say how the pasted text is written."))
            return pasted or ""
        found = guess(self._filename())
        if found is None:
            known = ", ".join(SYNTAXES)
            said = gettext("The file’s name has none of the endings %(known)s.")
            self.add_error("syntax", said % {"known": known})
        return found or ""

    def _filename(self) -> str:
        return str(cast("UploadedFile", self.files[FILE]).name)

    def upload(self) -> dict[str, Any]:
        """Return what is to be imported, as it is held until the person says yes."""
        values = self.cleaned_data
        kept = {name: values[name] for name in ("mode", "syntax", "scope", "target", "name")}
        text, title = values[self.source], UNTITLED
        if self.source == FILE:
            title = PurePath(self._filename()).stem
        elif not text.endswith("\n"):  # a box has no last line that could have been cut off
            text += "\n"
        return {**kept, SOURCE: self.source, TEXT: text, "title": title}
