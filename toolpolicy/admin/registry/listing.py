"""The list of tools: what is counted beside each, and filters by what tools are judged as."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.registry.picking import picked
from toolpolicy.admin.words import english
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.words import Permission
from toolpolicy.models import Tool
from toolpolicy.services import lint, registry, usage
from toolpolicy.services.touching import touching

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.db.models import QuerySet

MOST_TAGS: Final = 100
UNKNOWN: Final = "unknown"


class ToolList(ChangeList):
    """One page of tools, each with how many rules touch it and how often it was called."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, then what is counted and found for its tools: as many queries for any."""
        super().get_results(request)
        tools: list[Tool] = list(self.result_list)
        touched, ticked, found = touching(), picked(request), lint.findings()
        calls = calls_of(tools)
        for tool in tools:
            vars(tool)["touched_by"] = touched.count(tool.family.name, tool.name)
            vars(tool)["calls"] = calls[tool.pk]
            vars(tool)["findings"] = found.by_tool(tool.family.name, tool.name)
            vars(tool)["picked"] = tool.pk in ticked
        self.result_list = tools
        self.shown = ",".join(str(tool.pk) for tool in tools)
        self.picked = len(ticked)


def calls_of(tools: Iterable[Tool]) -> dict[int, int]:
    """Return how often tools were decided about in a week, by id. Two queries.

    What was refused before its family was looked at is counted under its name alone. It was about
    the one tool of this name, where there is one.
    """
    tools = list(tools)
    counts = usage.tool_calls(names={tool.name for tool in tools})
    known = registry.live()
    found = {}
    for tool in tools:
        alone = len(known.resolve(tool.name).families) == 1
        bare = counts.get(("", tool.name), 0) if alone else 0
        found[tool.pk] = counts.get((tool.family.name, tool.name), 0) + bare
    return found


class ByWhatItIs(SimpleListFilter):
    """Tools by what they are judged as. The live registry is asked: columns do not know it."""

    def holds(self, value: str) -> Callable[[Entry], bool]:
        """Return whether an entry is one of those that were asked for."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Tool]") -> "QuerySet[Tool]":
        """Keep what was chosen."""
        value = self.value()
        if not value:
            return queryset
        holds = self.holds(value)
        names = {(one.family, one.name) for one in registry.live() if holds(one)}
        rows = Tool.objects.order_by().values_list("pk", "family__name", "name")
        return queryset.filter(pk__in=[pk for pk, *name in rows if tuple(name) in names])


class ByPermission(ByWhatItIs):
    """Tools of one level of privilege."""

    title, parameter_name = _("permission"), "permission"

    def lookups(
        self, request: HttpRequest, model_admin: "ModelAdmin[Tool]"
    ) -> Iterable[tuple[str, str]]:
        """Offer every level."""
        return (
            *((str(level), english(str(level))) for level in Permission),
            (UNKNOWN, gettext("unknown")),
        )

    def holds(self, value: str) -> Callable[[Entry], bool]:
        return lambda entry: str(entry.subject.permission or UNKNOWN) == value


class ByTag(ByWhatItIs):
    """Tools that have a tag."""

    title, parameter_name = _("tag"), "tag"

    def lookups(
        self, request: HttpRequest, model_admin: "ModelAdmin[Tool]"
    ) -> Iterable[tuple[str, str]]:
        """Offer the tags that tools have."""
        tags = sorted({tag for entry in registry.live() for tag in entry.subject.tags})
        return [(tag, tag) for tag in tags[:MOST_TAGS]]

    def holds(self, value: str) -> Callable[[Entry], bool]:
        return lambda entry: value in entry.subject.tags


class ByGroup(ByWhatItIs):
    """Tools of one group."""

    title, parameter_name = _("group"), "group"

    def lookups(
        self, request: HttpRequest, model_admin: "ModelAdmin[Tool]"
    ) -> Iterable[tuple[str, str]]:
        """Offer the groups that there are."""
        groups = sorted({entry.subject.group or "" for entry in registry.live()} - {""})
        return [(group, group) for group in groups[:MOST_TAGS]]

    def holds(self, value: str) -> Callable[[Entry], bool]:
        return lambda entry: entry.subject.group == value


class ByTouch(ByWhatItIs):
    """Tools that some rule touches, or none."""

    title, parameter_name = _("rules"), "touched"

    def lookups(
        self, request: HttpRequest, model_admin: "ModelAdmin[Tool]"
    ) -> Iterable[tuple[str, str]]:
        """Offer both."""
        return (("yes", gettext("touched by some")), ("no", gettext("touched by none")))

    def holds(self, value: str) -> Callable[[Entry], bool]:
        counts = touching()
        return lambda entry: bool(counts.count(entry.family, entry.name)) == (value == "yes")
