"""What the record of a question does not show."""

from typing import Any

import pytest

from tests.engine.test_argument_places import entry
from toolpolicy.engine.masker import EVERYWHERE, Masker, shown_context
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.engine.registry import Registry

RUN: dict[str, Any] = {"target": ("/tool",), "arguments": "/args"}
REGISTRY = Registry(
    [
        entry("read"),
        entry("pay", "bank"),
        entry("run", **RUN),
        entry("twice"),
        entry("twice", "bank"),
    ]
)
BY_FAMILY = {"families": {"bank": {"keys": ["iban"]}}}
BY_TOOL = {"tools": [{"family": "bank", "name": "pay", "rules": {"pointers": ["/to"]}}]}
DIGEST = {"tools": [{"family": "bank", "name": "pay", "rules": {"mode": "digest"}}]}
FULL = {"tools": [{"family": "kit", "name": "read", "rules": {"mode": "full"}}]}


def masked(document: dict[str, Any], /, tool: Any = "read", **members: Any) -> dict[str, str]:
    """Return the places that are masked, each with the place of its rule."""
    named = {} if "subject" in members else {"tool": tool}
    question = parse_question({"surface": "call", **named, **members})
    spots = Masker(document).spots(question, REGISTRY)
    assert len({spot.path for spot in spots}) == len(spots)
    return {"/".join(spot.path): spot.of if spot.kept else f"{spot.of}, lost" for spot in spots}


def test_the_built_in_keys_count_where_nobody_says_otherwise():
    sent = {"password": "x", "iban": "y"}
    assert masked({}, arguments=sent) == {"asked/arguments/password": EVERYWHERE}
    assert masked({"all": {"keys": []}}, arguments=sent) == {}
    assert masked({"all": {"keys": ["iban"]}}, arguments=sent) == {
        "asked/arguments/iban": EVERYWHERE
    }
    assert masked({"all": {"mode": "digest"}}, arguments=sent) == {
        "asked/arguments": f"{EVERYWHERE}, lost"
    }


NAMED = [
    ("pay", {"iban": "bank", "to": "bank/pay", "token": EVERYWHERE}),
    ({"name": "pay", "family": "bank"}, {"iban": "bank", "to": "bank/pay", "token": EVERYWHERE}),
    ("PAY", {"iban": "bank", "to": "bank/pay", "token": EVERYWHERE}),
    ({"name": "pay", "family": "x"}, {"iban": "bank", "to": "bank/pay", "token": EVERYWHERE}),
    ("twice", {"iban": "bank", "token": EVERYWHERE}),
    ({"name": "unheard_of", "family": "bank"}, {"iban": "bank", "token": EVERYWHERE}),
    ({"name": "unheard_of", "family": "BANK"}, {"iban": "bank", "token": EVERYWHERE}),
    ("unheard_of", {"token": EVERYWHERE}),
    ("read", {"token": EVERYWHERE}),
]


@pytest.mark.parametrize(("tool", "places"), NAMED, ids=str)
def test_a_name_has_the_rules_of_each_tool_that_it_can_mean(tool, places):
    document = {**BY_FAMILY, **BY_TOOL}
    found = masked(document, tool, arguments={"iban": "1", "to": "2", "token": "3", "x": "4"})
    assert found == {f"asked/arguments/{name}": of for name, of in places.items()}


def test_arguments_inside_a_dispatchers_have_the_rules_of_their_own_tool():
    sent = {"tool": "pay", "args": {"to": "2", "iban": "1", "x": "y"}, "to": "z"}
    assert masked({**BY_FAMILY, **BY_TOOL}, "run", arguments=sent) == {
        "asked/arguments/args/iban": "bank",
        "asked/arguments/args/to": "bank/pay",
    }
    assert masked(DIGEST, "run", arguments=sent) == {"asked/arguments/args": "bank/pay, lost"}


def test_a_pointer_for_all_tools_counts_for_a_target_too():
    sent = {"tool": "read", "args": {"to": "2"}}
    assert masked({"all": {"pointers": ["/to"]}}, "run", arguments=sent) == {
        "asked/arguments/args/to": EVERYWHERE
    }


def test_what_is_not_followed_to_its_end_is_not_kept():
    sent = {"tool": "run", "args": {"tool": "pay", "args": {}}}
    assert masked(DIGEST, "run", arguments=sent) == {"asked/arguments/args": f"{EVERYWHERE}, lost"}


def test_a_target_that_names_nothing_is_passed_over():
    assert masked(DIGEST, "run", arguments={"tool": 5}) == {}


def test_what_a_host_says_of_targets_is_masked_there_and_in_the_arguments():
    sent = {"blob": [{"to": "2", "amount": 3}], "n": 1}
    target = {"tool": "pay", "arguments": {"to": "2", "amount": 3}}
    assert masked(DIGEST, arguments=sent, targets=[target]) == {
        "asked/arguments/blob/0": "bank/pay, lost",
        "asked/targets/0/arguments": "bank/pay, lost",
    }


def test_a_target_without_arguments_is_judged_and_masked_by_the_tools_own():
    assert masked(BY_TOOL, arguments={"to": "2"}, targets=[{"tool": "pay"}]) == {
        "asked/arguments/to": "bank/pay"
    }


def test_the_rules_of_the_tool_count_for_what_it_runs():
    targets = [{"tool": "read", "arguments": {"to": "2"}}, {"tool": "read"}]
    assert masked(BY_TOOL, "pay", arguments={"a": 1}, targets=targets) == {
        "asked/targets/0/arguments/to": "bank/pay"
    }
    assert masked(DIGEST, "pay", arguments={"a": 1}, targets=targets) == {
        "asked/arguments": "bank/pay, lost",
        "asked/targets/0/arguments": "bank/pay, lost",
    }


def test_in_full_nothing_of_the_arguments_is_masked():
    assert masked(FULL, arguments={"token": "x"}) == {}
    assert masked(FULL, "run", arguments={"token": "x"}) == {"asked/arguments/token": EVERYWHERE}


def test_a_long_text_that_is_masked_is_masked_wherever_else_it_stands():
    secret = "correct horse"
    sent = {"token": secret, "list": [{"note": secret}, "other"], "short": "abc", "pwd": "abc"}
    context = {"agent": secret, "hint": secret, "team": "red", "api_key": "k" * 9, "copy": "k" * 9}
    targets = [{"tool": "read", "arguments": [secret, "x"]}]
    found = masked({}, arguments=sent, context=context, targets=targets)
    assert list(found) == [
        *("asked/context/api_key", "context/api_key"),
        *("asked/arguments/list/0/note", "asked/arguments/pwd", "asked/arguments/token"),
        "asked/targets/0/arguments/0",
        *("asked/context/hint", "context/hint", "asked/context/copy", "context/copy"),
    ]


def test_a_secret_of_the_context_is_masked_wherever_else_it_stands():
    secret = "k" * 9
    sent = {"note": secret, "x": ["y"]}
    schema = {"properties": {"where": {"default": secret}}}
    found = masked(
        {},
        subject={"name": "read", "input_schema": schema},
        arguments=sent,
        context={"api_token": secret, "agent": secret, "short": "abc"},
    )
    assert set(found) == {
        *("asked/context/api_token", "context/api_token", "asked/arguments/note"),
        "asked/subject/input_schema/properties/where/default",
    }


def test_a_secret_of_a_schema_is_masked_in_the_arguments_too():
    schema = {"properties": {"password": {"default": "correct horse"}}}
    found = masked({}, subject={"name": "r", "input_schema": schema}, arguments=["correct horse"])
    assert set(found) == {
        *("asked/arguments/0", "asked/subject/input_schema/properties/password/default"),
    }


def test_a_listing_shows_no_secret_in_its_query_and_schemas_either():
    secret = "k" * 9
    question = parse_list_question(
        {
            "surface": "catalog",
            "context": {"api_key": secret, "copy": secret, "team": "red"},
            "query": secret,
            "subjects": [{"name": "plain", "input_schema": {"description": secret}}],
        }
    )
    spots = Masker({}).list_spots(question)
    assert {"/".join(spot.path) for spot in spots} == {
        *("asked/context/api_key", "context/api_key", "asked/context/copy", "context/copy"),
        *("asked/query", "asked/subjects/0/input_schema/description"),
    }
    assert shown_context(question.context, spots) == {"team": "red"}


def test_context_is_masked_by_the_keys_for_all_tools_but_for_what_records_are_found_by():
    context = {"agent": "a", "session": "s", "session_token": "t", "untrusted_content": "true"}
    document = {"all": {"keys": ["session", "agent", "untrusted_content"]}}
    assert masked(document, context=context) == {
        "asked/context/session_token": EVERYWHERE,
        "context/session_token": EVERYWHERE,
    }
    assert masked({"all": {"mode": "full"}}, context={"api_key": "x"}) == {}


def test_a_submitted_schema_describes_secrets_and_may_hold_one():
    schema = {"properties": {"password": {"type": "string", "default": "x"}}, "api_key": "y"}
    subject = {"name": "read", "input_schema": schema}
    found = masked({}, subject=subject, targets=[{"subject": subject}])
    assert found == {
        f"asked/{at}subject/input_schema/{place}": EVERYWHERE
        for at in ("", "targets/0/")
        for place in ("api_key", "properties/password/default")
    }
    assert masked({"all": {"mode": "full"}}, subject=subject) == {}


def test_a_listing_shows_no_secrets_of_context_and_schemas():
    subject = {"name": "read", "input_schema": {"token": "x"}}
    question = parse_list_question(
        {
            "surface": "catalog",
            "context": {"agent": "a", "api_key": "x"},
            "subjects": [{"name": "plain"}, subject],
        }
    )
    spots = Masker({}).list_spots(question)
    assert ["/".join(spot.path) for spot in spots] == [
        *("asked/context/api_key", "context/api_key"),
        "asked/subjects/1/input_schema/token",
    ]
    assert shown_context(question.context, spots) == {"agent": "a"}


def test_no_more_than_some_objects_are_looked_for_elsewhere():
    many = [{"token": {"n": n}} for n in range(30)]
    sent = {"list": many, "same": [{"n": 0}, {"n": 29}]}
    found = masked({}, arguments=sent)
    assert "asked/arguments/same/0" in found
    assert "asked/arguments/same/1" not in found


class Watched(dict[str, Any]):
    """An item that counts how often its members are gone through."""

    looks = 0

    def items(self) -> Any:
        type(self).looks += 1
        return super().items()


BATCH = Registry(
    [entry("batch", target=("/tool",), family="/family", items="/tools"), entry("pay", "bank")]
)


@pytest.mark.parametrize("name", ["pay", "unheard_of", "made_up_{}"])
@pytest.mark.parametrize(
    "document", [BY_FAMILY, BY_TOOL, DIGEST, {"all": {"pointers": ["/to"]}}], ids=str
)
def test_items_that_are_sent_one_whole_document_do_not_each_have_it_scanned(document, name):
    def looks(count: int) -> int:
        items = [Watched(tool=name.format(n), family="bank") for n in range(count)]
        question = parse_question(
            {"surface": "call", "tool": "batch", "arguments": {"tools": items}}
        )
        Watched.looks = 0
        Masker(document).spots(question, BATCH)
        return Watched.looks

    assert looks(200) <= 2 * looks(100) <= 1_000


def test_made_up_names_leave_nothing_behind():
    masker = Masker(BY_FAMILY)
    for number in range(50):
        tool = {"name": f"made_up_{number}", "family": "bank"}
        masker.spots(parse_question({"surface": "call", "tool": tool, "arguments": {}}), REGISTRY)
    assert len(masker._ready) == 1
