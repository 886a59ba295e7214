"""What is told of new names, whoever brings them; never a refusal."""

from collections.abc import Iterable

from toolpolicy.engine.near_names import Identity, near_names
from toolpolicy.engine.tool_lists import prefixed_twice
from toolpolicy.engine.words import ReasonCode
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.services._registry_report import NameWarning
from toolpolicy.services.registry_store import live


def name_warnings(
    family: ToolFamily, names: Iterable[str], registered: Iterable[Identity]
) -> tuple[NameWarning, ...]:
    """Return which of a family's new names have its prefix twice, or look like another name."""
    new = tuple(names)
    near = near_names(((family.name, name) for name in new), registered)
    return (*prefixed_twice(family.name, family.prefix, new), *near)


def names_like(name: str) -> tuple[str, ...]:
    """Return `family/name` of the registered tools that a name of none may have been meant for.

    For those who keep the registry: an agent must not learn here of tools that it may not see.
    """
    registry = live()
    if registry.resolve(name).refusal is not ReasonCode.TOOL_UNREGISTERED:
        return ()
    near = near_names([("", name)], ((entry.family, entry.name) for entry in registry))
    return tuple("/".join(one.like) for one in near)


def warnings_about(tool: Tool) -> tuple[NameWarning, ...]:
    """Return what an import would warn of, for one tool that is registered: one query."""
    registered = Tool.objects.values_list("family__name", "name")
    return name_warnings(tool.family, (tool.name,), registered)
