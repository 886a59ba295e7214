"""Tags and the group of many tools: what is asked, what would change, and then the change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import by, framed
from toolpolicy.admin.faults import sentence
from toolpolicy.admin.registry.picking import drop
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import Subject
from toolpolicy.models import Tool
from toolpolicy.services import registry
from toolpolicy.services.errors import ServiceError
from toolpolicy.services.registry import Labels
from toolpolicy.services.touching import Touching, touching

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

SURE, ASKED = "sure", "asked"
SEEN: Final = "seen-{}"
LEAVE, SET, NONE = "leave", "set", "none"


class TagsField(forms.CharField):
    """Tags, by commas."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        return list(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))


class LabelForm(forms.Form):
    """What to change."""

    add = TagsField(required=False, label=_("Add tags"), help_text=_("Several by commas."))
    remove = TagsField(required=False, label=_("Take tags away"))
    change_group = forms.ChoiceField(
        label=_("Group"),
        choices=((LEAVE, _("leave as it is")), (SET, _("set to")), (NONE, _("no group"))),
        initial=LEAVE,
        widget=forms.RadioSelect,
    )
    group = forms.CharField(required=False, label=_("Name of the group"), max_length=128)

    def clean(self) -> dict[str, Any]:
        """Ask for something to do."""
        values = super().clean() or {}
        how = values.get("change_group")
        if how == SET and not values.get("group") and "group" not in self.errors:
            self.add_error("group", gettext("Name the group."))
        if how == LEAVE and not (values.get("add") or values.get("remove") or self.errors):
            self.add_error(None, gettext("Say what to change: tags, the group, or both."))
        return values

    def labels(self) -> Labels:
        """Return what was asked."""
        values = self.cleaned_data
        group = {LEAVE: None, SET: values["group"], NONE: ""}[values["change_group"]]
        return Labels(add=values["add"], remove=values["remove"], group=group)


@dataclass(frozen=True)
class Line:
    """One tool before and after."""

    tool: Tool
    before: Subject
    after: Subject
    rules: tuple[int, int]

    @property
    def changes(self) -> bool:
        """Whether it is judged otherwise."""
        return self.before != self.after


def label(
    page: "ModelAdmin[Tool]", request: HttpRequest, tools: QuerySet[Tool]
) -> HttpResponse | None:
    """Ask what to change, show what that does, and do it once somebody is sure."""
    chosen = list(tools.select_related("family", "current").order_by("family__name", "name"))
    form = LabelForm(request.POST if ASKED in request.POST else None, label_suffix="")
    lines: Sequence[Line] = ()
    if form.is_bound and form.is_valid():
        try:
            lines = _lines(chosen, form.labels())
            if SURE in request.POST:
                _save(request, chosen, form.labels())
                return None
        except ServiceError as refused:
            for fault in refused.faults:
                name = fault.pointer.removeprefix("/").partition("/")[0]
                form.add_error(name if name in form.fields else None, sentence(fault))
    shown = {
        "title": gettext("Tag and group"),
        "form": form,
        "lines": lines,
        "changing": sum(line.changes for line in lines),
        "tools": [(tool, SEEN.format(tool.pk)) for tool in chosen],
    }
    return framed(page, request, "tool/label", **shown)


def _save(request: HttpRequest, chosen: Sequence[Tool], labels: Labels) -> None:
    seen = {tool.pk: request.POST.get(SEEN.format(tool.pk), "") for tool in chosen}
    versions = {
        pk: int(text) if text.isascii() and text.isdigit() else 0 for pk, text in seen.items()
    }
    changed = registry.label_tools(**by(request), tools=versions, labels=labels)
    drop(request, chosen)
    said = ngettext(
        "Changed: %(count)s tool. Decisions go by it from now on.",
        "Changed: %(count)s tools. Decisions go by it from now on.",
        len(changed),
    )
    messages.success(request, said % {"count": len(changed)})


def _lines(tools: Sequence[Tool], labels: Labels) -> list[Line]:
    labels.check()
    touched = touching()
    entries = {(one.family, one.name): one for one in registry.live()}
    return [_line(tool, labels, touched, entries[tool.family.name, tool.name]) for tool in tools]


def _line(tool: Tool, labels: Labels, touched: Touching, entry: Entry) -> Line:
    before = registry.subject_of(tool, tool.overrides)
    after = registry.subject_of(tool, labels.laid_over(tool))
    counts = tuple(touched.count_as(subject, entry.privilege) for subject in (before, after))
    return Line(tool, before, after, (counts[0], counts[1]))
