"""Catalogue and execution agree for every tool of the demo (SPEC §4, §5a), in every context."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from tests.demo.conftest import ACTOR
from tests.demo.contexts import CONTEXTS, samples
from toolpolicy.engine.catalog import CallState, Listed, list_subject
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.questions import Asked, ListQuestion, Question
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Effect, Exposure, Outcome, ReasonCode, Surface
from toolpolicy.models import Record
from toolpolicy.services import decisions, registry
from toolpolicy.services.decisions.facts import Facts, gather
from toolpolicy.services.decisions.judging import judge_question

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded")]

FINAL = {
    CallState.ALLOWED: Outcome.ALLOW,
    CallState.NEEDS_APPROVAL: Outcome.NEEDS_APPROVAL,
    CallState.REFUSED: Outcome.DENY,
}


def call(entry: Entry, context: dict[str, str], args: Any) -> Question:
    asked = Asked(name=entry.name, family=entry.family, arguments=args)
    return Question(surface=Surface.CALL, tool=asked, context=context)


def decided(question: Question, facts: Facts) -> Decision:
    result = judge_question(question, facts).result
    assert isinstance(result, Decision)
    return result


def ruled_out(listed: Listed, outcome: Outcome) -> bool:
    """Tell whether a call's outcome is one that the listing said it could not have."""
    if listed.call is not None:
        return FINAL.get(listed.call, outcome) is not outcome
    # What is merely hidden may be called; what is refused on a listing is refused on every call.
    return listed.withheld is not ReasonCode.HIDDEN and outcome is not Outcome.DENY


@pytest.mark.parametrize("who", CONTEXTS)
def test_no_call_is_answered_with_what_the_engines_listing_ruled_out(who):
    facts = gather(ACTOR, set(), timezone.now())
    context = CONTEXTS[who]
    seen: set[tuple[CallState | None, str]] = set()
    for entry in facts.registry:
        outcomes = {
            judge_question(call(entry, context, args), facts).result for args in samples(entry)
        }
        for surface in (Surface.CATALOG, Surface.SEARCH):
            listed = list_subject(
                facts.policy,
                entry.subject,
                context,
                surface,
                now=facts.now,
                depends=entry.depends_on_arguments,
                floor=entry.floor,
            )
            for result in outcomes:
                outcome = getattr(result, "outcome", Outcome.DENY)
                seen.add((listed.call, outcome))
                assert not ruled_out(listed, outcome), (entry.name, surface, listed.call, result)
    assert {outcome for _, outcome in seen} > {Outcome.DENY}


def listed_by_service(
    surface: Surface, context: dict[str, str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield what one recorded listing says of each tool: its call state, or why it is withheld."""
    question = ListQuestion(surface=surface, context=context)
    answer = decisions.list_tools(asker=ACTOR, question=question)
    body = json.loads(Record.objects.get(uid=answer.listing_id).body.text)
    assert [tool["name"] for tool in answer.document["tools"]] == [row[1] for row in body["listed"]]
    for family, name, state in body["listed"] + body["withheld"]:
        yield (family, name), state


@pytest.mark.parametrize("who", CONTEXTS)
def test_the_services_list_and_call_every_tool_alike(who):
    context = CONTEXTS[who]
    catalog = dict(listed_by_service(Surface.CATALOG, context))
    search = dict(listed_by_service(Surface.SEARCH, context))
    entries = list(registry.live())
    direct = [e for e in entries if e.subject.exposure in (None, Exposure.DIRECT)]
    assert set(catalog) == {(e.family, e.name) for e in direct}
    assert set(search) == {(e.family, e.name) for e in entries}
    assert catalog.items() <= search.items()
    questions = [call(entry, context, {}) for entry in entries]
    answers = decisions.decide_batch(asker=ACTOR, questions=questions)
    for entry, answer in zip(entries, answers, strict=True):
        said = search[entry.family, entry.name]
        if said in set(CallState):
            assert FINAL.get(CallState(said), answer.outcome) is answer.outcome, entry.name
        elif said != ReasonCode.HIDDEN:
            # A dispatcher's call without a target is refused before any rule is read.
            bad = ReasonCode.DISPATCHER_BAD_TARGET if entry.dispatcher else said
            assert answer.outcome is Outcome.DENY
            assert answer.reason_code in (said, bad), entry.name
    assert Record.objects.filter(kind="decision").count() == len(entries)


DECIDING: dict[str, tuple[str, str, str, Any]] = {
    "no-dropping-data": ("nobody", "call", "mcp__mongodb__drop-database", {}),
    "mail-is-kept": ("support", "call", "GMAIL_DELETE_EMAIL", {}),
    "no-secrets-by-path": ("coder", "call", "mcp__filesystem__edit_file", {"path": "/srv/.env"}),
    "no-secrets-by-paths": (
        "coder",
        "call",
        "mcp__filesystem__read_multiple_files",
        {"paths": ["a", "b.pem"]},
    ),
    "no-secrets-by-source": (
        "coder",
        "call",
        "mcp__filesystem__move_file",
        {"source": "/home/a/.ssh/id"},
    ),
    "one-file-reader-is-enough": ("coder", "catalog", "mcp__filesystem__read_file", {}),
    "read-only-sandboxes-write-nothing": (
        "read-only coder",
        "call",
        "mcp__filesystem__create_directory",
        {},
    ),
    "no-money-no-mail": ("coder", "call", "composio_search_tools", {}),
    "main-is-protected": (
        "coder",
        "call",
        "mcp__github__create_or_update_file",
        {"branch": "Release/7"},
    ),
    "no-dangerous-commands": ("coder", "call", "run_command", {"command": "sudo ls"}),
    "nothing-internal": ("greeter", "call", "mcp__filesystem__list_directory", {}),
}


def enforced_denials(facts) -> set[str]:
    return {
        rule.id
        for layer in facts.policy.layers
        if not layer.settings.observe
        for rule in layer.rules
        if getattr(rule, "effect", None) in (Effect.DENY, Effect.HIDE)
    }


def test_every_denial_of_the_demo_decides_somewhere():
    facts = gather(ACTOR, set(), timezone.now())
    assert set(DECIDING) == enforced_denials(facts)
    for rule, (who, surface, name, args) in DECIDING.items():
        asked = Asked(name=name, arguments=args)
        question = Question(surface=Surface(surface), tool=asked, context=CONTEXTS[who])
        blocked = decided(question, facts).blocked_by
        assert blocked is not None
        assert blocked.id == rule


@pytest.mark.parametrize(
    ("who", "name", "layer"),
    [
        ("support", "mcp__github__merge_pull_request", "agent: support-bot"),
        ("greeter", "mcp__slack__slack_post_message", "channel: public"),
    ],
)
def test_a_layer_that_denies_by_default_denies_what_it_does_not_name(who, name, layer):
    facts = gather(ACTOR, set(), timezone.now())
    question = Question(
        surface=Surface.CALL, tool=Asked(name=name, arguments={}), context=CONTEXTS[who]
    )
    result = decided(question, facts)
    assert result.reason_code is ReasonCode.LAYER_DEFAULT
    assert result.blocked_by is not None
    assert result.blocked_by.layer == layer


def test_what_is_proposed_is_observed_and_not_enforced():
    facts = gather(ACTOR, set(), timezone.now())
    asked = Asked(name="mcp__github__create_repository", arguments={"name": "copy"})
    question = Question(surface=Surface.CALL, tool=asked, context=CONTEXTS["coder"])
    result = decided(question, facts)
    assert result.callable
    assert result.observed is not None
    assert result.observed.blocked_by is not None
    assert result.observed.blocked_by.id == "no-new-repositories"
    assert not result.observed.callable


def test_a_tool_without_arguments_is_still_refused_where_they_cannot_be_read():
    entry = registry.live().resolve("run_command").entry
    assert entry is not None
    facts = gather(ACTOR, set(), timezone.now())
    question = call(entry, CONTEXTS["coder"], ABSENT)
    assert judge_question(question, facts).result.reason_code is ReasonCode.RULE_DENIED
