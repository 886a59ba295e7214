"""The forms of an import in two steps: what is uploaded or pasted, and the key it is held under."""

from typing import Any, ClassVar, Final, Self

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import WireWidget
from toolpolicy.admin.holding import held
from toolpolicy.admin.words import Words, filled
from toolpolicy.conf import conf

FILE, TEXT, SOURCE = "file", "text", "source"
AGAIN: Final = "again"
"""The button of step two that goes back."""


class UploadForm(forms.Form):
    """A text, uploaded or pasted, as large as an import may be."""

    kinds: ClassVar[Words]
    longer: ClassVar[Words]
    nothing: ClassVar[Words]

    file = forms.FileField(required=False)
    text = forms.CharField(
        label=_("Or paste it here"), required=False, strip=False, widget=WireWidget()
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        largest = filesizeformat(conf().max_import_bytes)
        self.fields[FILE].help_text = filled(self.kinds, size=largest)
        typed = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        self.fields[TEXT].help_text = filled(self.longer, size=typed)

    def clean_file(self) -> str:
        """Return the text of the file; it is read only if it is not too large."""
        file, most = self.cleaned_data[FILE], conf().max_import_bytes
        if file is None:
            return ""
        if file.size > most:
            said = gettext("The file has %(size)s bytes. At most %(most)s are read.")
            raise forms.ValidationError(said % {"size": f"{file.size:,}", "most": f"{most:,}"})
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            msg = gettext("The file is no UTF-8 text.")
            raise forms.ValidationError(msg) from None
        return text

    def clean(self) -> dict[str, Any]:
        """Take one text, not two."""
        values = super().clean() or self.cleaned_data
        if FILE in values and bool(values[FILE]) == bool(values.get(TEXT, "").strip()):
            both = gettext("Either a file or pasted text, not both.")
            self.add_error(FILE, both if values[FILE] else str(self.nothing))
        return values

    @property
    def source(self) -> str:
        """The field that the text came from."""
        return FILE if self.files.get(FILE) else TEXT

    @classmethod
    def again(cls, request: HttpRequest) -> Self:
        """Return the form as it was sent; what was held too long is gone, and a file goes anew."""
        confirm = ConfirmForm(request.POST)
        sent = (held(request, confirm.cleaned_data["held"]) if confirm.is_valid() else None) or {}
        return cls(initial=sent if sent.get(SOURCE) == TEXT else {**sent, TEXT: ""})


class ConfirmForm(forms.Form):
    """Step two: the key under which what was sent is held."""

    held = forms.CharField(widget=forms.HiddenInput, max_length=64)
