"""What records do not show of arguments, as three fields: for all tools, a family, a tool."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.faults import LinesField, ServiceForm, sentence
from toolpolicy.engine.faults import Fault
from toolpolicy.engine.masking import Keeping

FIELDS: Final = ("mask_mode", "mask_keys", "mask_pointers")
MODES: Final = (
    (str(Keeping.MASKED), _("masked: what the rules find is hidden, and kept apart")),
    (str(Keeping.FULL), _("full: nothing is hidden")),
    (str(Keeping.DIGEST), _("digest only: all arguments are hidden, and no value is kept")),
)
WIDER: Final = ("", _("not said here: as its family, else as all tools"))
_PREFIX: Final = "mask_"


class MaskingForm(ServiceForm):
    """Adds the three fields to a form; the service knows them as members of one."""

    mask_mode = forms.ChoiceField(
        required=False, choices=(WIDER, *MODES), label=_("Arguments in records")
    )
    mask_keys = LinesField(
        label=_("Hidden members, by name"),
        help_text=_(
            "One a line. Whole words, however they are written: api_key also finds X-Api-Key and "
            "apiKey. With * or ? it is compared with the whole name."
        ),
    )
    mask_pointers = LinesField(
        label=_("Hidden places"),
        help_text=_("JSON pointers into the arguments, one a line. * is any member or item."),
    )

    member = "masking"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = self.held()
        self.initial.update({name: held.get(name.removeprefix(_PREFIX), "") for name in FIELDS})

    def held(self) -> Mapping[str, Any]:
        """Return the rules as they are stored."""
        stored: Mapping[str, Any] = getattr(self.instance, self.member)
        return stored

    def masking(self) -> dict[str, Any]:
        """Return the rules as they were typed; what is left empty is left out."""
        typed = {name.removeprefix(_PREFIX): self.cleaned_data.get(name) for name in FIELDS}
        return {member: value for member, value in typed.items() if value}

    def masking_changed(self) -> dict[str, Any]:
        """Return the service's member where one of the fields is another than what is stored."""
        return {"masking": self.masking()} if set(FIELDS) & set(self.changed_data) else {}

    def placed(self, fault: Fault) -> tuple[str | None, str]:
        """Put what is wrong with a rule on its field."""
        own, _, rest = fault.pointer.removeprefix("/").partition("/")
        member = rest.partition("/")[0] if own == "masking" else own
        name = f"{_PREFIX}{member}"
        return (name, sentence(fault, fault.pointer)) if name in FIELDS else super().placed(fault)


def told(rules: Mapping[str, Any]) -> SafeString:
    """Say what rules hide, for those who only read."""
    if not rules:
        return marks.nothing()
    mode = rules.get("mode")
    words = dict(MODES)[mode] if mode else ""
    listed = [*rules.get("keys", ()), *rules.get("pointers", ())]
    return format_html("{} {}", words, format_html_join(" ", "<code>{}</code>", zip(listed)))
