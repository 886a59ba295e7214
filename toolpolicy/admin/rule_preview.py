"""What the page of a rule says beside its fields: words, tools, answers that change, warnings."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.words import Words
from toolpolicy.engine.catalog import CallState
from toolpolicy.engine.faults import printable
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.words import Surface
from toolpolicy.services.preview import (
    Answer,
    Asker,
    Change,
    Effect,
    Preview,
    pointers_of,
)

MOST_NAMES: Final = 60
MOST_ASKERS: Final = 3
MOST_CHANGES: Final = 12
MOST_CHANGED_NAMES: Final = 15
MOST_POINTERS: Final = 100

# What it does to all answers: word, shape, tone, and what that means.
EFFECTS: Final = {
    Effect.NOTHING: (_("changes no answer"), "yes", "hide", ""),
    Effect.NARROWS: (
        _("only narrows"),
        "yes",
        "allow",
        _("Proven: nothing is admitted that was not."),
    ),
    Effect.WIDENS: (_("allows something new"), "warn", "ask", _("See the first lines below.")),
    Effect.UNPROVEN: (
        _("not proven to only narrow"),
        "warn",
        "ask",
        _("No answer compared here gets wider, but others might."),
    ),
}
_CALLS: Final = {
    CallState.ALLOWED: (_("Allow"), "allow", "allow"),
    CallState.NEEDS_APPROVAL: (_("Ask"), "ask", "ask"),
    CallState.REFUSED: (_("Deny"), "deny", "deny"),
    CallState.DEPENDS_ON_ARGUMENTS: (_("Depends"), "args", "hide"),
}

# By the surfaces on which a tool is listed.
LISTED: Final[Mapping[frozenset[str], Words]] = {
    frozenset(): _("not listed"),
    frozenset((Surface.CATALOG,)): _("in catalog"),
    frozenset((Surface.SEARCH,)): _("in search"),
    frozenset((Surface.CATALOG, Surface.SEARCH)): _("in catalog and search"),
}


def shown(preview: Preview) -> dict[str, Any]:
    """Return a preview as the page shows it."""
    tools = preview.tools
    changes = preview.changes
    word, shape, tone, means = EFFECTS[preview.effect]
    return {
        "preview": preview,
        "families": Counter(entry.family for entry in tools).most_common(8),
        "names": tools[:MOST_NAMES],
        "names_more": len(tools) - MOST_NAMES,
        "badge": marks.tag(word, shape=shape, tone=tone),
        "means": means,
        "changes": [_change(one, preview.askers) for one in changes[:MOST_CHANGES]],
        "changes_more": len(changes) - MOST_CHANGES,
        "changed_tools": len({(e.family, e.name) for one in changes for e in one.tools}),
        "pointers": _pointers(tools),
    }


def _pointers(tools: Iterable[Entry]) -> list[str]:
    named = Counter(pointer for entry in tools for pointer in pointers_of(entry))
    return [name for name, _ in named.most_common(MOST_POINTERS) if name and name.isprintable()]


def _change(change: Change, everyone: Sequence[Asker]) -> dict[str, Any]:
    return {
        "who": who(change.askers, everyone),
        "made_up": any(asker.made_up for asker in change.askers),
        "before": _answer(change.before, change.after),
        "after": _answer(change.after, change.before),
        "same": change.before == change.after,
        "count": len(change.tools),
        "tools": change.tools[:MOST_CHANGED_NAMES],
        "more": len(change.tools) - MOST_CHANGED_NAMES,
    }


def _answer(answer: Answer, other: Answer) -> SafeString:
    """Show what a call meets; the listings too where they alone differ, or differ as well."""
    pill = marks.pill(*_CALLS[answer.call])
    told = answer.listed != other.listed and CallState.REFUSED not in (answer.call, other.call)
    return marks.row((pill, marks.tag(LISTED[frozenset(answer.listed)]) if told else ""))


def who(askers: Sequence[Asker], everyone: Sequence[Asker]) -> str:
    """Say which askers these are, of all that were compared.

    >>> all_four = [Asker(a, c) for a in ("x", None) for c in ("s", None)]
    >>> who(all_four[:2], all_four), who(all_four[:1], all_four), who(all_four, all_four)
    ('x, any channel', 'x, s', 'everybody')
    """
    agents = dict.fromkeys(asker.agent for asker in askers)
    channels = dict.fromkeys(asker.channel for asker in askers)
    if len(agents) * len(channels) != len({(one.agent, one.channel) for one in askers}):
        first = ", ".join(
            _named([askers[0].agent], gettext("no agent"))
            + _named([askers[0].channel], gettext("no channel"))
        )
        said = ngettext(
            "%(count)s combination, such as %(first)s",
            "%(count)s combinations, such as %(first)s",
            len(askers),
        )
        return said % {"count": len(askers), "first": first}
    # Only where the rule leaves it open who asks, "none" is one of them.
    of_all = (
        None in agents and len(agents) == len({one.agent for one in everyone}),
        None in channels and len(channels) == len({one.channel for one in everyone}),
    )
    if all(of_all):
        return gettext("everybody")
    word = gettext("or")
    said, where = gettext("any agent"), gettext("any channel")
    if not of_all[0]:
        said = f" {word} ".join(_named(agents, gettext("no agent")))
    if not of_all[1]:
        where = f" {word} ".join(_named(channels, gettext("no channel")))
    return f"{said}, {where}"


def _named(values: Collection[str | None], none: str) -> list[str]:
    names = [printable(value) if value is not None else none for value in values]
    return (
        names
        if len(names) <= MOST_ASKERS
        else [*names[:2], gettext("%(count)s more") % {"count": len(names) - 2}]
    )
