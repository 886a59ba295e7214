"""The six recipes with what each is told, so that a terminal, REST and a form ask for the same."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from toolpolicy.engine import recipes
from toolpolicy.engine.documents import product_reader
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.engine.formats import PREFERENCES_MEMBER
from toolpolicy.engine.reading import Reader
from toolpolicy.engine.values import Layer
from toolpolicy.engine.words import Permission


class OptionKind(StrEnum):
    """What an option of a recipe holds."""

    PATTERN = "one pattern"
    PATTERNS = "a list of patterns"
    TOGGLES = "tool or group to mode"
    LEVEL = "a permission"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that a recipe is told, under the name of its function's parameter."""

    name: str
    kind: OptionKind
    label: str
    about: str
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One recipe: its name, what it is called and does, its function and its options.

    The first option is the one that the layer is named after, where `named` says so.
    """

    name: str
    title: str
    summary: str
    make: Callable[..., Layer]
    options: tuple[Option, ...]
    named: bool = True

    @property
    def named_after(self) -> str:
        """The pointer to what the layer's name is made of; "" where it is always the same."""
        return f"/{self.options[0].name}" if self.named else ""


def _pattern(name: str, label: str, about: str) -> Option:
    return Option(name=name, kind=OptionKind.PATTERN, label=label, about=about)


def _patterns(name: str, label: str, about: str, *, required: bool = True) -> Option:
    return Option(name=name, kind=OptionKind.PATTERNS, label=label, about=about, required=required)


_ALL: Final = (
    Recipe(
        name="agent-allowlist",
        title="An agent’s allowlist",
        summary="the agent gets the tools on the list and nothing else",
        make=recipes.agent_allowlist,
        options=(
            _pattern(
                "agent",
                "Agent",
                "a pattern over the agent that the context names, for example `coder-*`",
            ),
            _patterns("allow", "Allowed tools", "what it may use, for example `read_*`"),
            _patterns(
                "deny",
                "But not",
                "what of that it may not use all the same, for example `git_push`",
                required=False,
            ),
        ),
    ),
    Recipe(
        name="channel-ceiling",
        title="A channel’s permission ceiling",
        summary="in the channel, tools above a level or without one are refused",
        make=recipes.channel_ceiling,
        options=(
            _pattern(
                "channel",
                "Channel",
                "a pattern over the channel that the context names, for example `public-*`",
            ),
            Option(
                name="level",
                kind=OptionKind.LEVEL,
                label="Highest level",
                about="the highest permission of a tool there; one without any is above it",
            ),
        ),
    ),
    Recipe(
        name="server-filter",
        title="An MCP server’s tool filter",
        summary="of the server’s tools only some are there, or all but some",
        make=recipes.server_filter,
        options=(
            _pattern(
                "family",
                "Server",
                "the family that its tools are registered as, for example `github`",
            ),
            _patterns(
                "allow",
                "Only these tools",
                "what is there, for example `mcp__github__get_*`; without any, all of it",
                required=False,
            ),
            _patterns(
                "deny",
                "But not",
                "what is taken away, for example `mcp__github__delete_*`",
                required=False,
            ),
        ),
    ),
    Recipe(
        name="connector-curation",
        title="A connector’s curated actions",
        summary="of the actions so named only the curated ones are there",
        make=recipes.connector_curation,
        options=(
            _pattern(
                "actions",
                "Actions",
                "a pattern over the names of all its actions, for example `GMAIL_*`",
            ),
            _patterns(
                "curated",
                "Curated actions",
                "the actions that stay, for example `GMAIL_FETCH_EMAILS`",
            ),
        ),
    ),
    Recipe(
        name="user-toggles",
        title="What a user switched",
        summary="in the session, tools and groups are on, ask first or are off",
        make=recipes.user_toggles,
        options=(
            _pattern(
                "session",
                "Session",
                "a pattern over the session that the context names, for example `s-1`",
            ),
            Option(
                name="toggles",
                kind=OptionKind.TOGGLES,
                label="Toggles",
                about="each tool or group with its mode: on, ask, off, or auto for no opinion",
            ),
        ),
    ),
    Recipe(
        name="approval-allowlist",
        title="Tools that run without asking",
        summary="the tools on the list run at once, every other one asks first",
        make=recipes.approval_allowlist,
        options=(_patterns("allow", "Tools", "what runs at once, for example `read_*`"),),
        named=False,
    ),
)
RECIPES: Final[Mapping[str, Recipe]] = {recipe.name: recipe for recipe in _ALL}


def cook(recipe: Recipe, values: Mapping[str, Any]) -> Layer:
    """Return the layer that a recipe makes of these options, JSON values by name.

    Raises `Faults` with every fault and its pointer into `values`.

    >>> cook(RECIPES["approval-allowlist"], {"allow": ["read_*"]}).name
    'approval allowlist'
    """
    reader = product_reader()
    members = reader.members(values, "", [option.name for option in recipe.options])
    given = {
        option.name: _READ[option.kind](reader, members[option.name], f"/{option.name}")
        for option in recipe.options
        if option.name in members
    }
    for option in recipe.options:
        if option.required and option.name not in members:
            reader.fault("", f"`{option.name}` is needed", "missing")
    reader.finish(None)
    try:
        return recipe.make(**given)
    except Faults as refused:
        raise Faults(_placed(fault) for fault in refused.faults) from None


def _pattern_of(reader: Reader, value: Any, at: str) -> str:
    found = reader.patterns(value, at) if reader.has_kind(value, str, at) else ()
    if found == ("",):
        reader.fault(at, "a pattern is needed, this is empty", "missing")
    return "".join(found)


def _toggles_of(reader: Reader, value: Any, at: str) -> dict[str, Any]:
    return value if reader.has_kind(value, dict, at) else {}


_READ: Final[Mapping[OptionKind, Callable[[Reader, Any, str], Any]]] = {
    OptionKind.PATTERN: _pattern_of,
    OptionKind.PATTERNS: Reader.patterns,
    OptionKind.TOGGLES: _toggles_of,
    OptionKind.LEVEL: lambda reader, value, at: reader.word(value, at, Permission),
}


def _placed(fault: Fault) -> Fault:
    """Say of a toggle where it stands in the options."""
    old = f"/{PREFERENCES_MEMBER}"
    if not fault.pointer.startswith(old):
        return fault
    return fault.moved(f"/toggles{fault.pointer.removeprefix(old)}")
