"""What an agent could do at a moment, tool by tool; between two, what changed through what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from toolpolicy.models import SessionTaint
from toolpolicy.services.decisions.facts import UNTRUSTED, recalled
from toolpolicy.services.evidence.attribution import Attribution, differing
from toolpolicy.services.evidence.events import Event, events_between
from toolpolicy.services.evidence.moments import Moment, in_force
from toolpolicy.services.matrix import Opened, Said, answers

Wire = dict[str, Any]
Tool = tuple[str, str]
Context = Mapping[str, str]
PLACES: Final = ("agent", "channel", "session")


class Answer(NamedTuple):
    """What a call of one tool met, and the tool's state then."""

    tool: Tool
    state: str
    said: Said

    def wire(self) -> Wire:
        """Return it as JSON."""
        family, name = self.tool
        return {"family": family, "name": name, "state": self.state, **said_wire(self.said)}


def said_wire(said: Said) -> Wire:
    """Return an answer as JSON."""
    return {"outcome": str(said.outcome), "listed": said.listed, "depends": said.depends}


def said_words(said: Said | None, opened: Sequence[Opened] = ()) -> str:
    """Say an answer, and of open rules those that matter; None: the tool was not registered."""
    if said is None:
        return "not registered"
    words = [str(said.outcome).replace("_", " ")]
    words += ["depends on arguments"] if said.depends else []
    words.append("listed" if said.listed else "not listed")
    return ", ".join([*words, *(one.words for one in opened)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a caller in a context could do at a moment."""

    moment: Moment
    context: Context
    answers: tuple[Answer, ...]

    def wire(self) -> Wire:
        """Return it as JSON."""
        tools = [one.wire() for one in self.answers]
        return {**self.moment.wire(), "context": dict(self.context), "tools": tools}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A tool that is answered otherwise, and the events through which; None: not registered."""

    tool: Tool
    before: Said | None
    after: Said | None
    through: tuple[Event, ...]

    @property
    def sides(self) -> tuple[tuple[Said | None, list[Opened]], ...]:
        """Both answers, each with the open rules that the other does not have."""
        pairs = ((self.before, self.after), (self.after, self.before))
        return tuple((one, one.open_unlike(other) if one else []) for one, other in pairs)

    def wire(self) -> Wire:
        """Return it as JSON."""
        family, name = self.tool
        before, after = (
            {**said_wire(one), "open": [rule.wire() for rule in opened]} if one else None
            for one, opened in self.sides
        )
        return {
            "family": family,
            "name": name,
            "before": before,
            "after": after,
            "through": [one.wire() for one in self.through],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two moments: what happened between them and which tools are answered otherwise."""

    before: Standing
    after: Standing
    events: tuple[Event, ...]
    differences: tuple[Difference, ...]

    def wire(self) -> Wire:
        """Return it as JSON, the tools that are answered alike left out."""
        return {
            "before": {**self.before.moment.wire(), "context": dict(self.before.context)},
            "after": {**self.after.moment.wire(), "context": dict(self.after.context)},
            "events": [one.wire() for one in self.events],
            "differences": [one.wire() for one in self.differences],
        }


def standing_at(context: Context, at: datetime) -> Standing:
    """Return what could be done at a moment. Raises `NotFound` where a document is not kept."""
    moment = in_force(at)
    seen = _context(context, at)
    facts = recalled(moment.live, at)
    states = {(entry.family, entry.name): str(entry.state) for entry in facts.registry.entries}
    return Standing(
        moment=moment,
        context=seen,
        answers=tuple(
            Answer(tool, states[tool], said) for tool, said in answers(facts, seen).items()
        ),
    )


def compare(context: Context, first: datetime, second: datetime) -> Compared:
    """Return what differs between two moments, the earlier one first. Raises `NotFound`."""
    early, late = (standing_at(context, at) for at in sorted((first, second)))
    events = events_between(early.moment, late.moment)
    old, new = ({one.tool: one.said for one in of.answers} for of in (early, late))
    # What is registered does not depend on the settings: they need no reading anew.
    start = replace(early.moment.live, settings="")
    through = Attribution(early.context, start, events).through(old, new, late.moment.at)
    return Compared(
        before=early,
        after=late,
        events=events,
        differences=tuple(
            Difference(
                tool=tool,
                before=old.get(tool),
                after=new.get(tool),
                through=tuple(through.get(tool, ())),
            )
            for tool in sorted(differing(old, new))
        ),
    )


def _context(context: Context, at: datetime) -> Context:
    """Return the context with what was known of the session then: a query where one is named."""
    session = context.get("session")
    if not session:
        return context
    tainted = SessionTaint.objects.filter(session=session, since__lte=at).exists()
    return {**context, UNTRUSTED: "true"} if tainted else context
