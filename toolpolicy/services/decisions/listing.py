"""Listings: which tools an agent may see, and what a call of each would meet (SPEC §5a)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from toolpolicy.audit import writer
from toolpolicy.engine.catalog import Listed, OpenRule
from toolpolicy.engine.faults import quantity
from toolpolicy.engine.masker import shown_context
from toolpolicy.engine.questions import Asked, ListQuestion
from toolpolicy.engine.subjects import dump_subject
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import seen
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.decisions.facts import Facts
from toolpolicy.services.decisions.judging import Halt, Stopped, check_frozen, resolve
from toolpolicy.services.decisions.recording import body_head
from toolpolicy.services.errors import Unavailable


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """One listing. `document` is the JSON that every face gives."""

    listing_id: str
    document: dict[str, Any] = field(hash=False)

    @property
    def names(self) -> list[str]:
        """The names of the listed tools."""
        return [tool["name"] for tool in self.document["tools"]]


def list_by(question: ListQuestion, facts: Facts) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Judge a listing: the listed tools as answered, and [family, name, reason code] of the others.

    Raises `Unavailable` when there is no policy, or an older one than asked for.
    """
    missing = facts.missing(question.min_policy_version)
    if missing is not None:
        raise Unavailable(missing)
    context = facts.context_of(question.context)
    judge = _judge_registered if question.subjects is None else _judge_submitted
    tools, withheld = [], []
    for one in judge(question, context, facts):
        if isinstance(one, Stopped):
            withheld.append([one.family, one.name, str(one.reason_code)])
        elif one.listed.withheld is None:
            tools.append(_tool_document(one))
        else:
            withheld.append([one.family, one.subject.name, str(one.listed.withheld)])
    return tools, withheld


class _Judged(NamedTuple):
    """A subject that rules were read for."""

    family: str | None
    subject: Subject
    listed: Listed


def _judge_registered(
    question: ListQuestion, context: dict[str, str], facts: Facts
) -> Iterator[_Judged | Stopped]:
    """Judge what the surface shows of the registry; a query picks from it before any rule."""
    entries, listing = facts.shelf(question.surface)
    if question.query:
        picked = _searched([entry.subject for entry in entries], question.query)
        answers = listing.some(picked, context, facts.now)
        pairs = [(entries[n], one) for n, one in zip(picked, answers, strict=True)]
    else:
        pairs = list(zip(entries, listing.answers(context, facts.now), strict=True))
    for entry, one in pairs:
        name, family = entry.name, entry.family
        if entry.refusal is not None:
            yield Stopped(reason_code=entry.refusal, name=name, family=family)
            continue
        try:
            check_frozen(family, name, context, facts)
        except Halt as halt:
            yield halt.stopped
        else:
            yield _Judged(family, entry.subject, one)


def _judge_submitted(
    question: ListQuestion, context: dict[str, str], facts: Facts
) -> Iterator[_Judged | Stopped]:
    subjects = question.subjects or ()
    for number in _searched(subjects, question.query):
        subject = subjects[number]
        asked = Asked(name=subject.name, family=subject.family, submitted=subject)
        try:
            candidate = resolve(asked, facts, args=ABSENT, surface=question.surface)
            check_frozen(candidate.family, candidate.name, context, facts)
        except Halt as halt:
            stopped = halt.stopped
            yield replace(stopped, name=asked.name, family=asked.family)
            continue
        judged, entry = candidate.judged, candidate.entry
        listed = facts.compiled.list_subject(
            *(judged.subject, context, question.surface),
            now=facts.now,
            depends=entry is not None and entry.depends_on_arguments,
            floor=judged.floor,
        )
        yield _Judged(candidate.family, judged.subject, listed)


def _searched(subjects: Sequence[Subject], query: str) -> list[int]:
    """Return the places of the subjects that hold all words: by name, by title, by description."""
    words = query.lower().split()
    if not words:
        return list(range(len(subjects)))
    ranked: list[list[int]] = [[], [], []]
    for number, subject in enumerate(subjects):
        texts = (subject.name, subject.title or "", subject.description or "")
        lowered = [text.lower() for text in texts]
        for rank in range(len(ranked)):
            found = " ".join(lowered[: rank + 1])
            if all(word in found for word in words):
                ranked[rank].append(number)
                break
    return [number for group in ranked for number in group]


def _tool_document(one: _Judged) -> dict[str, Any]:
    subject, listed = one.subject, one.listed
    out: dict[str, Any] = {
        "family": one.family,
        "name": subject.name,
        "title": subject.title,
    }
    if subject.description is not None:
        out["description"] = subject.description
    out["call"] = str(listed.call)
    if listed.open:
        out["open"] = [_open_document(rule) for rule in listed.open]
    return out


def _open_document(rule: OpenRule) -> dict[str, Any]:
    return {
        "layer": rule.layer,
        "rule": rule.id,
        "index": rule.rule,
        "effect": str(rule.effect),
        "arguments": [{"pointer": p, "value": _patterns(value)} for p, value in rule.arguments],
    }


def _patterns(value: str | tuple[str, ...]) -> str | list[str]:
    return value if isinstance(value, str) else list(value)


def record_listing(
    question: ListQuestion, *, asker: Actor, origin: Origin, facts: Facts
) -> ListAnswer:
    """Judge one listing and record it in the transaction that is open: one record for all tools."""
    tools, withheld = list_by(question, facts)
    policy = {"version": facts.live.version, "digest": facts.live.policy}
    document = {"surface": str(question.surface), "tools": tools, "policy": policy}
    context = facts.context_of(question.context)
    body = {
        **body_head(asker, origin, facts),
        "asked": _asked_document(question),
        "context": context,
        "listed": [[tool["family"], tool["name"], tool["call"]] for tool in tools],
        "withheld": withheld,
    }
    index = writer.RecordIndex(
        surface=str(question.surface),
        **{name: context.get(name, "") for name in ("agent", "channel", "session")},
        policy_version=facts.live.version,
        actor_label=asker.label,
        object_label=f"{quantity(len(tools), 'tool')} listed, {len(withheld)} withheld",
        request_id=origin.request_id,
    )
    kind, spots = RecordKind.LISTING, facts.masker.list_spots(question)
    record = writer.write(kind=kind, body=body, index=index, client=asker.client, spots=spots)
    seen.note([shown_context(question.context, spots)], facts.now)
    return ListAnswer(str(record.uid), {"listing_id": str(record.uid), **document})


def _asked_document(question: ListQuestion) -> dict[str, Any]:
    out: dict[str, Any] = {
        "surface": str(question.surface),
        "context": dict(question.context),
        "query": question.query,
    }
    if question.subjects is not None:
        out["subjects"] = [dump_subject(subject) for subject in question.subjects]
    return out
