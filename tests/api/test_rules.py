"""`rules/`: read, made, changed, replaced, ordered, deleted; each publishes."""

import pytest

from tests.factories import make_layer, make_rule
from toolpolicy.api.shapes.policy import RULE_MEMBERS
from toolpolicy.models import PolicyVersion, Record, Rule
from toolpolicy.services import _policy_edits


@pytest.fixture
def layer(api):
    return make_layer("house rules")


@pytest.fixture
def rule(layer):
    return make_rule(
        layer,
        id="no-mail",
        match={"name": "send_mail"},
        except_={"tags": "internal"},
        when={"channel": "out*"},
        reason="mail stays inside",
    )


def test_the_members_are_those_of_the_service():
    assert set(RULE_MEMBERS) == set(_policy_edits.RULE_MEMBERS)


def test_a_rule_is_read_with_the_version_of_its_layer(api, layer, rule):
    response = api.get(f"rules/{rule.pk}/")
    assert response.headers["ETag"] == '"2"'
    assert response.json() == {
        "pk": rule.pk,
        "layer": layer.pk,
        "version": 2,
        "id": "no-mail",
        "effect": "deny",
        "on": [],
        "match": {"name": "send_mail"},
        "except": {"tags": "internal"},
        "when": {"channel": "out*"},
        "reason": "mail stays inside",
        "position": 0,
        "enabled": True,
        "observe": False,
        "expires_at": None,
        "examples": [],
        "approval": {},
    }


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("layer={layer}", ["no-mail", "off"]),
        ("layer=999", []),
        ("id=off", ["off"]),
        ("effect=hide", ["off"]),
        ("enabled=false", ["off"]),
        ("observe=true", []),
    ],
)
def test_rules_are_filtered(api, layer, rule, query, ids):
    make_rule(layer, id="off", effect="hide", enabled=False)
    found = api.get(f"rules/?{query.format(layer=layer.pk)}").json()["results"]
    assert [one["id"] for one in found] == ids


def test_a_rule_is_made_and_live_at_once(api, layer):
    sent = {
        "layer": layer.pk,
        "effect": "deny",
        "on": ["call"],
        "match": {"name": ["send_*", "post_*"]},
        "except": {"tags": "internal"},
        "expires_at": "2030-01-01T00:00:00Z",
    }
    response = api.post("rules/", sent, X_Request_ID="r-1")
    made = response.json()
    assert response.status_code == 201
    assert {name: made[name] for name in sent} == sent
    assert (made["id"], made["version"], made["position"]) == ("deny-send_", 2, 0)
    assert made["policy"]["version"] == 3
    record = Record.objects.get(request_id="r-1")
    assert (record.kind, record.layer, record.rule) == ("change", "house rules", "deny-send_")
    answer = api.post("decisions/", {"surface": "call", "tool": "send_mail"}).json()
    assert answer["blocked_by"]["rule"] == "deny-send_"


def test_a_rule_of_an_ordered_layer_has_a_mode_as_its_effect(api):
    layer = make_layer("order", combining="last_match")
    made = api.post("rules/", {"layer": layer.pk, "effect": "off", "match": {"name": "x"}}).json()
    assert made["effect"] == "off"
    assert api.patch(f"rules/{made['pk']}/", {"effect": "ask", "version": 2}).status_code == 200
    wrong = api.patch(f"rules/{made['pk']}/", {"effect": "deny", "version": 3})
    assert [error["pointer"] for error in wrong.json()["errors"]] == ["/effect"]


def test_a_rule_is_changed_by_who_saw_its_layer(api, rule):
    response = api.patch(f"rules/{rule.pk}/", {"reason": "new"}, If_Match='"2"')
    assert (response.status_code, response.headers["ETag"]) == (200, '"3"')
    stale = api.patch(f"rules/{rule.pk}/", {"reason": "newer"}, If_Match='"2"')
    assert (stale.status_code, stale.json()["code"]) == (412, "stale")
    rule.refresh_from_db()
    assert (rule.reason, rule.except_match) == ("new", {"tags": "internal"})


def test_a_change_of_another_rule_of_the_layer_counts_too(api, layer, rule):
    make_rule(layer, id="other")
    assert api.patch(f"rules/{rule.pk}/", {"reason": "new", "version": 2}).status_code == 409


def test_null_takes_a_member_away(api, rule):
    api.patch(f"rules/{rule.pk}/", {"except": None, "version": 2})
    rule.refresh_from_db()
    assert rule.except_match is None


def test_what_was_read_can_be_sent_back_whole(api, rule):
    read = api.get(f"rules/{rule.pk}/").json()
    assert api.put(f"rules/{rule.pk}/", read).json()["policy"]["version"] == 3  # as before
    changed = api.put(f"rules/{rule.pk}/", {**read, "match": {"name": "x"}}).json()
    assert (changed["match"], changed["except"]) == ({"name": "x"}, {"tags": "internal"})


def test_a_replacement_leaves_nothing_out(api, rule):
    read = api.get(f"rules/{rule.pk}/").json()
    del read["except"]
    response = api.put(f"rules/{rule.pk}/", read)
    assert "`except`" in response.json()["errors"][0]["message"]


def test_a_rule_stays_in_its_layer(api, layer, rule):
    other = make_layer("other")
    for sent in ({"layer": other.pk, "version": 2}, {"pk": 1, "version": 2}):
        response = api.patch(f"rules/{rule.pk}/", sent)
        assert response.status_code == 422
    read = api.get(f"rules/{rule.pk}/").json()
    assert api.put(f"rules/{rule.pk}/", {**read, "layer": other.pk}).status_code == 422
    rule.refresh_from_db()
    assert rule.layer == layer


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({}, [""]),
        ({"layer": "1"}, ["/layer"]),
        ({"effect": "explode"}, ["/effect"]),
        ({"effect": "on"}, ["/effect"]),
        ({"effect": None}, ["/effect"]),
        ({"id": "a b"}, ["/id"]),
        ({"id": "no-mail"}, ["/id"]),
        ({"id": 5}, ["/id"]),
        ({"on": ["shell"]}, ["/on/0"]),
        ({"on": "call"}, ["/on"]),
        ({"match": []}, ["/match"]),
        ({"match": {"nme": "x"}}, ["/match/nme"]),
        ({"match": {"name": 5}}, ["/match/name"]),
        (
            {"match": {"category": "x", "permission_at_least": "High"}},
            ["/match/category", "/match/permission_at_least"],
        ),
        ({"match": {"arg": {"pointer": "/a"}}}, ["/match/arg"]),
        ({"except": {"nme": "x"}}, ["/except/nme"]),
        ({"when": {"agent": 1}}, ["/when/agent"]),
        ({"position": 7}, ["/position"]),
        ({"position": "0"}, ["/position"]),
        ({"expires_at": "soon"}, ["/expires_at"]),
        ({"examples": {}}, ["/examples"]),
        ({"approval": []}, ["/approval"]),
        ({"colour": "red"}, ["/colour"]),
    ],
)
def test_a_wrong_rule_is_refused_with_every_fault(api, layer, rule, sent, pointers):
    before = PolicyVersion.objects.count()
    whole = {"layer": layer.pk, "effect": "deny", **sent} if sent else {}
    response = api.post("rules/", whole)
    assert response.status_code == 422, response.content
    assert [error["pointer"] for error in response.json()["errors"]] == pointers
    assert PolicyVersion.objects.count() == before


def test_a_rule_of_no_layer_is_not_found(api):
    assert api.post("rules/", {"layer": 999, "effect": "deny"}).status_code == 404


def test_rules_of_a_layer_are_reordered(api, layer, rule):
    other = make_rule(layer, id="other")
    path = f"layers/{layer.pk}/reorder/"
    order = [other.pk, rule.pk]
    assert api.post(path, {"order": order, "version": 2}).status_code == 409
    answer = api.post(path, {"order": order, "version": 3}).json()
    assert answer["changed"]
    assert list(Rule.objects.filter(layer=layer).values_list("pk", flat=True)) == order
    assert api.post(path, {"order": [rule.pk], "version": 4}).status_code == 422
    assert api.post(path, {"order": order}).json()["code"] == "version_required"
    assert api.post("layers/999/reorder/", {"order": [], "version": 1}).status_code == 404


def test_a_rule_is_deleted_by_who_saw_its_layer(api, rule):
    assert api.delete(f"rules/{rule.pk}/", If_Match='"1"').status_code == 412
    assert api.delete(f"rules/{rule.pk}/", If_Match='"2"').json()["changed"]
    assert api.get(f"rules/{rule.pk}/").status_code == 404


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_rule_that_is_not_there_is_not_found(api, method):
    data = b"{}" if method == "PATCH" else None
    assert api.send(method, "rules/999/", data, If_Match='"1"').status_code == 404


def test_a_key_cannot_change_the_baseline(api):
    baseline = Rule.objects.get(rule_id="declares-needs-approval")
    for response in (
        api.patch(f"rules/{baseline.pk}/", {"enabled": False, "version": 1}),
        api.delete(f"rules/{baseline.pk}/", If_Match='"1"'),
        api.post("rules/", {"layer": baseline.layer_id, "effect": "auto_approve"}),
    ):
        assert (response.status_code, response.json()["code"]) == (403, "refused")
