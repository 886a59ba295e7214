"""Every scope against every address: one opens it, none of the others does."""

import pytest

from tests.api.addresses import ARGUMENTS, addresses, asked
from tests.api.conftest import EVERY_SCOPE
from toolpolicy.models import ApiClient, Record
from toolpolicy.models.choices import KeyScope

UID = ARGUMENTS["uid"]
ABOUT_EVERYBODY = "a key bound to a context neither reads nor changes what is about everybody"


@pytest.mark.parametrize("scope", EVERY_SCOPE)
def test_a_scope_opens_its_own_addresses_and_no_other(key_with, scope):
    api = key_with(scope)
    answers = {one: api.send(one.method, one.path, b"{}") for one in asked()}
    opened = {one for one, response in answers.items() if response.status_code != 403}
    assert opened == {one for one in asked() if one.scope == scope}
    for one in answers.keys() - opened:
        problem = answers[one].json()
        assert (problem["code"], problem["detail"]) == (
            "scope_missing",
            f"this needs the scope `{one.scope}`",
        )
        assert f'scope="{one.scope}"' in answers[one].headers["WWW-Authenticate"]


@pytest.mark.parametrize("scope", EVERY_SCOPE)
def test_all_the_other_scopes_together_do_not_open_an_address(key_with, scope):
    api = key_with(*(other for other in EVERY_SCOPE if other != scope))
    closed = [one for one in asked() if one.scope == scope]
    assert {api.send(one.method, one.path, b"{}").status_code for one in closed} == {403}


# Everything else tells or changes what is about everybody.
WITHIN_A_CONTEXT = {
    *("POST decisions/", "POST decisions/batch/", "POST catalog/", "POST explain/"),
    *("GET records/", f"GET records/{UID}/", f"POST records/{UID}/payload/"),
    *("GET freezes/", "POST freezes/", "POST freezes/1/lift/"),
    *("POST clients/", "POST clients/1/revoke/"),
    # The same everywhere, and about nobody.
    *("GET policy/schema/", "GET audit/verifier/"),
}


def test_a_key_bound_to_a_context_reaches_only_what_keeps_within_it(key_with):
    bound = key_with(*EVERY_SCOPE, pinned_context={"agent": "a"})
    for one in asked():
        answer = bound.send(one.method, one.path, b"{}")
        # Refused for what it is, or, where the address is open, at most for what stands in it.
        refused = answer.status_code == 403 and answer.json()["detail"] == ABOUT_EVERYBODY
        assert (str(one), refused) == (str(one), str(one) not in WITHIN_A_CONTEXT)
    assert {str(one) for one in asked() if one.within_context} == WITHIN_A_CONTEXT


def test_every_scope_opens_something():
    assert {one.scope for one in asked()} == set(KeyScope.values)


def test_a_method_that_is_not_offered_is_refused_as_such(api):
    for address in addresses():
        others = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - set(address.scopes)
        for method in others:
            response = api.send(method, address.path, b"{}")
            assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
            offered = set(response.headers["Allow"].split(", "))
            assert offered - {"HEAD"} == set(address.scopes)


@pytest.mark.parametrize("stored", ["decide", {"decide": 1}, ["decide", 1]])
def test_scopes_that_are_no_list_of_texts_open_nothing(key_with, stored):
    api = key_with("decide")
    ApiClient.objects.filter(pk=api.client.pk).update(scopes=stored)
    response = api.post("decisions/", {"surface": "call", "tool": "x"})
    assert (response.status_code, response.json()["code"]) == (403, "scope_missing")


def test_a_fresh_key_may_only_ask_for_decisions(api):
    made = api.post("clients/", {"name": "new"}).json()
    assert made["scopes"] == ["decide"]


def test_explaining_a_decision_needs_its_own_scope(key_with, api):
    plain = key_with("decide")
    question = {"surface": "call", "tool": "x", "explain": True}
    refused = plain.post("decisions/", question)
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "this needs the scope `explain`",
    )
    assert "explanation" in key_with("decide", "explain").post("decisions/", question).json()
    assert not Record.objects.filter(client=plain.client, kind="decision").exists()


def test_in_a_batch_only_the_item_that_asks_to_be_explained_is_refused(key_with, api):
    item = {"surface": "call", "tool": "x"}
    sent = {"items": [item, {**item, "explain": True}]}
    first, second = key_with("decide").post("decisions/batch/", sent).json()["results"]
    assert first["outcome"] == "allow"
    assert (second["status"], second["code"], second["outcome"]) == (403, "scope_missing", "deny")
