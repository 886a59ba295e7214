"""Forms that speak the wire form: strict JSON in, and every fault on its field in plain words."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext

from toolpolicy.admin.words import english
from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.errors import ServiceError, Stale

SEEN: Final = "seen_version"

if TYPE_CHECKING:
    from django.http import QueryDict


def sentence(fault: Fault, place: str = "") -> str:
    """Return what a fault says, and where inside the field at `place` it is, as the API says it."""
    inside = fault.pointer.removeprefix(place)
    line = f"line {fault.line}" if fault.line else ""
    where = ", ".join(filter(None, (line, f"at {inside}" if inside else "")))
    return english(f"{capfirst(fault.message)}{f' ({where})' if where else ''}")


class LastChange(NamedTuple):
    """Who changed something last, and when."""

    who: str
    at: datetime


def last_change(of: Mapping[str, str]) -> LastChange | None:
    """Return the last change of something, as the records with these columns say. One query."""
    changes = Record.objects.filter(kind=RecordKind.CHANGE, **of).newest_first()
    found = changes.values_list("actor_label", "at").first()
    return LastChange(*found) if found else None


class WireWidget(forms.Textarea):
    """A monospace box for JSON, and for what else is code."""

    def __init__(self, rows: int = 6) -> None:
        super().__init__({"rows": rows, "class": "tp-json", "spellcheck": "false"})


class WireField(forms.CharField):
    """JSON, read by the engine's strict reader; an empty box is `nothing`."""

    def __init__(self, *, nothing: Any, rows: int = 6, **kwargs: Any) -> None:
        self.nothing = nothing
        own = {"required": False, "initial": nothing, "widget": WireWidget(rows)}
        super().__init__(**{**own, **kwargs})

    def to_python(self, value: Any) -> Any:
        """Read the text. Every fault is named with its place."""
        text = super().to_python(value)
        if not text:
            return self.nothing
        try:
            return strictjson.loads(text.encode("utf-8", "surrogatepass"))
        except Faults as refused:
            raise ValidationError([sentence(fault) for fault in refused.faults]) from None

    def prepare_value(self, value: Any) -> Any:
        """Show stored JSON laid out; what was typed stays as it was typed."""
        if isinstance(value, str):
            return value
        if value is None or value == self.nothing:
            return ""
        return json.dumps(value, indent=2, ensure_ascii=False)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Tell whether another value was typed; layout is none."""
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "widget": WireWidget(rows=3), **kwargs})

    def to_python(self, value: Any) -> Any:
        lines = (super().to_python(value) or "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))


class MomentField(forms.DateTimeField):
    """A moment in UTC, in the browser's own field."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateTimeInput({"type": "datetime-local", "step": "1"}, "%Y-%m-%dT%H:%M:%S")
        super().__init__(**{"required": False, "widget": widget, **kwargs})


class PlainForm(forms.ModelForm):
    """Labels without Django's colon."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})


class ServiceForm(PlainForm):
    """A form whose values a service saves; it shows what the service refused.

    `wire` maps fields to the members that the service knows them by; the others have one name.
    """

    refused: ServiceError | None = None
    wire: ClassVar[Mapping[str, str]] = {}

    def values(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the cleaned values of these fields, by the service's names."""
        return {self.wire.get(name, name): self.cleaned_data[name] for name in names}

    def _post_clean(self) -> None:
        """Add what the service refused. Models are checked by the service, not here."""
        if self.refused is not None:
            self.show(self.refused)

    def show(self, refused: ServiceError) -> None:
        """Put each fault on its field."""
        for fault in refused.faults:
            self.add_error(*self.placed(fault))

    def placed(self, fault: Fault) -> tuple[str | None, str]:
        """Return the field that a fault's pointer starts with, and what to say there."""
        member = fault.pointer.removeprefix("/").partition("/")[0]
        names = {self.wire.get(name, name): name for name in self.fields}
        field = names.get(member)
        return field, sentence(fault, f"/{member}" if field else "")


def _in_words(stored: object) -> object:
    """Return what a field holds as its editor sees it."""
    if isinstance(stored, bool):
        return gettext("ticked") if stored else gettext("not ticked")
    return gettext("nothing") if stored in ("", None, []) else stored


class VersionedForm(ServiceForm):
    """A form that knows which version its editor saw, so that a later change is never lost.

    After a stale save it says who changed what meanwhile, keeps what was typed, and takes the
    next save as meant: the editor has seen the difference.
    """

    seen_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def seen(self) -> int:
        """Return the version that the editor saw; no version is ever 0."""
        return self.cleaned_data.get(SEEN) or 0

    def show(self, refused: ServiceError) -> None:
        if not isinstance(refused, Stale):
            super().show(refused)
            return
        self.add_error(None, self.changed_meanwhile(refused))
        for name in set(self.changed_data) & set(self.cleaned_data) - {SEEN}:
            stored = self.fields[name].prepare_value(self.initial.get(name))
            self.add_error(name, gettext("Stored now: %(value)s") % {"value": _in_words(stored)})
        data = cast("QueryDict", self.data).copy()
        data[SEEN] = str(refused.found)
        self.data = data

    def changed_meanwhile(self, refused: Stale) -> str:
        """Say who was faster, and what a second save does."""
        found = last_change(self.recorded_as())
        who = found.who if found else gettext("Somebody")
        said = gettext(
            "%(who)s changed this since you opened it (version %(seen)s is now %(found)s). Nothing "
            "was saved, and what you typed is still here. Where it differs, the field shows what "
            "is stored now. Save again to put yours over it."
        )
        return said % {"who": who, "seen": refused.expected, "found": refused.found}

    def recorded_as(self) -> dict[str, str]:
        """Return the columns by which the records of its changes are found."""
        raise NotImplementedError
