"""`policy/`: what is live, what was, and back again."""

import pytest

from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.engine.canonical import digest, dumps
from toolpolicy.models import Record
from toolpolicy.services import policies


@pytest.fixture
def versions(api):
    layer = make_layer("house rules")
    make_rule(layer, id="no-mail", match={"name": "send_mail"})


def test_the_live_policy_is_a_document_of_its_digest(api, versions):
    policy = api.get("policy/").json()
    assert policy["version"] == 3
    assert policy["digest"] == digest(dumps(policy["document"]))
    assert policy["published_by"] == "tests"


def test_an_unchanged_policy_is_not_sent_again(api, versions):
    first = api.get("policy/")
    tag = first.headers["ETag"]
    for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = api.get("policy/", If_None_Match=given)
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    make_layer("another")
    changed = api.get("policy/", If_None_Match=tag)
    assert changed.status_code == 200
    assert changed.headers["ETag"] != tag
    assert changed.headers["Cache-Control"] == "private, no-cache"


def test_without_a_policy_there_is_nothing_to_read(key_with):
    assert key_with("policy:read").get("policy/").status_code == 404


def test_versions_are_listed_latest_first(api, versions):
    found = api.get("policy/versions/").json()["results"]
    assert [one["version"] for one in found] == [3, 2, 1]
    assert all("document" not in one for one in found)
    assert api.get(f"policy/versions/?digest={found[1]['digest']}").json()["results"] == [found[1]]


def test_one_version_is_read_with_its_document(api, versions):
    version = api.get("policy/versions/2/").json()
    assert version["version"] == 2
    assert version["digest"] == digest(dumps(version["document"]))
    assert api.get("policy/versions/9/").status_code == 404


def test_two_versions_are_compared(api, versions):
    diff = api.get("policy/versions/diff/?from=1&to=3").json()
    (change,) = diff["changes"]
    assert (diff["before"], diff["after"]) == (1, 3)
    assert (change["change"], change["layer"]) == ("added", "house rules")
    (change,) = api.get("policy/versions/diff/?from=3&to=2").json()["changes"]
    assert (change["change"], change["rule"]) == ("removed", "no-mail")
    assert change["grade"] == "loosens"
    assert api.get("policy/versions/diff/?from=1&to=9").status_code == 404


def test_rolling_back_makes_a_new_version_of_the_old_document(api, versions):
    old = api.get("policy/versions/2/").json()
    answer = api.post("policy/versions/2/rollback/", X_Request_ID="r-1").json()
    assert answer == {"changed": True, "policy": {"version": 4, "digest": old["digest"]}}
    assert api.get("policy/").json()["document"] == old["document"]
    assert api.get("rules/?id=no-mail").json()["results"] == []
    record = Record.objects.get(request_id="r-1")
    assert (record.kind, record.client, record.policy_version) == ("change", api.client, 4)


def test_rolling_back_to_what_is_live_changes_nothing(api, versions):
    answer = api.post("policy/versions/3/rollback/").json()
    assert (answer["changed"], answer["policy"]["version"]) == (False, 3)


def test_a_version_that_never_was_cannot_come_back(api, versions):
    assert api.post("policy/versions/9/rollback/").status_code == 404


def test_a_key_cannot_roll_the_baseline_back(key_with):
    make_layer("before the baseline")
    policies.install_baseline(actor=SYSTEM)
    response = key_with("policy:write").post("policy/versions/1/rollback/")
    problem = response.json()
    assert (response.status_code, problem["code"]) == (403, "refused")
    assert problem["errors"][0]["code"] == "baseline_protected"
