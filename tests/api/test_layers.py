"""`layers/`: read, made, changed, replaced, ordered, deleted; each publishes."""

import pytest

from tests.factories import make_layer
from toolpolicy.api.shapes.policy import LAYER_MEMBERS
from toolpolicy.models import Layer, PolicyVersion, Record
from toolpolicy.services import _policy_edits


@pytest.fixture
def layer(api):
    return make_layer("house rules", description="What nobody may do.")


def test_the_members_are_those_of_the_service():
    assert set(LAYER_MEMBERS) == set(_policy_edits.LAYER_MEMBERS)


def test_layers_are_listed_as_they_apply(api, layer):
    make_layer("for agents", scope="agent", target=["*"])
    found = api.get("layers/").json()["results"]
    assert [one["name"] for one in found][-2:] == ["house rules", "for agents"]
    assert [(one["scope"], one["position"]) for one in found] == [
        *(("config", position) for position in range(4)),
        ("agent", 0),
    ]


def test_a_page_leads_to_the_next_in_the_same_order(api, layer):
    make_layer("for agents", scope="agent", target=["*"])
    names, path = [], "layers/?page_size=2"
    while path:
        page = api.get(path).json()
        names += [one["name"] for one in page["results"]]
        path = page["next"] and page["next"].removeprefix("http://testserver")
    assert names == list(Layer.objects.in_order().values_list("name", flat=True))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("name=house%20rules", ["house rules"]),
        ("scope=agent", ["off", "for agents"]),
        ("combining=last_match", ["off"]),
        ("enabled=false", ["for agents"]),
        ("observe=true", ["baseline: untrusted content"]),
        ("scope=session", []),
    ],
)
def test_layers_are_filtered(api, layer, query, names):
    make_layer("off", scope="agent", target=["*"], combining="last_match")
    make_layer("for agents", scope="agent", target=["a"], enabled=False)
    found = api.get(f"layers/?{query}").json()["results"]
    assert [one["name"] for one in found] == names


def test_a_layer_is_made_and_live_at_once(api):
    sent = {"name": "house rules", "scope": "channel", "target": ["mail-*"], "default": "deny"}
    response = api.post("layers/", sent, X_Request_ID="r-1")
    made = response.json()
    assert response.status_code == 201
    assert response.headers["ETag"] == '"1"'
    assert {name: made[name] for name in sent} == sent
    assert (made["version"], made["fail_safe"], made["position"]) == (1, True, 0)
    assert made["policy"] == {"version": 2, "digest": api.get("policy/").json()["digest"]}
    record = Record.objects.get(request_id="r-1")
    assert (record.kind, record.client, record.layer) == ("change", api.client, "house rules")


def test_a_layer_is_read_with_its_version_as_tag(api, layer):
    response = api.get(f"layers/{layer.pk}/")
    assert response.headers["ETag"] == '"1"'
    assert response.json()["description"] == "What nobody may do."


@pytest.mark.parametrize("by", ["header", "member"])
def test_a_layer_is_changed_by_who_saw_its_version(api, layer, by):
    sent = {"enabled": False} if by == "header" else {"enabled": False, "version": 1}
    headers = {"If_Match": '"1"'} if by == "header" else {}
    response = api.patch(f"layers/{layer.pk}/", sent, **headers)
    assert response.status_code == 200
    assert response.headers["ETag"] == '"2"'
    assert response.json()["policy"]["version"] == 3
    layer.refresh_from_db()
    assert (layer.enabled, layer.description) == (False, "What nobody may do.")


def test_a_change_of_an_older_version_is_refused_and_undoes_nothing(api, layer):
    api.patch(f"layers/{layer.pk}/", {"description": "theirs", "version": 1})
    by_member = api.patch(f"layers/{layer.pk}/", {"description": "mine", "version": 1})
    by_header = api.patch(f"layers/{layer.pk}/", {"description": "mine"}, If_Match='"1"')
    assert [one.status_code for one in (by_member, by_header)] == [409, 412]
    assert {one.json()["code"] for one in (by_member, by_header)} == {"stale"}
    assert "version 2" in by_member.json()["detail"]
    layer.refresh_from_db()
    assert layer.description == "theirs"


def test_a_change_that_names_no_version_is_refused(api, layer):
    for response in (
        api.patch(f"layers/{layer.pk}/", {"enabled": False}),
        api.put(f"layers/{layer.pk}/", api.get(f"layers/{layer.pk}/").json() | {"version": None}),
        api.delete(f"layers/{layer.pk}/"),
    ):
        assert response.json()["code"] in ("version_required", "invalid")
    layer.refresh_from_db()
    assert layer.version == 1


@pytest.mark.parametrize("tag", ["*", "1", '"1", "2"', 'W/"1"', '"x"', ""])
def test_if_match_is_one_version(api, layer, tag):
    response = api.delete(f"layers/{layer.pk}/", If_Match=tag)
    assert (response.status_code, response.json()["code"]) == (400, "bad_header")
    assert Layer.objects.filter(pk=layer.pk).exists()


def test_what_was_read_can_be_sent_back_whole(api, layer):
    read = api.get(f"layers/{layer.pk}/").json()
    response = api.put(f"layers/{layer.pk}/", {**read, "description": "new"})
    assert response.status_code == 200
    assert response.json()["description"] == "new"


def test_a_replacement_leaves_nothing_out(api, layer):
    read = api.get(f"layers/{layer.pk}/").json()
    del read["fail_safe"], read["target"]
    response = api.put(f"layers/{layer.pk}/", read)
    assert response.status_code == 422
    messages = [error["message"] for error in response.json()["errors"]]
    assert [m for m in messages if "`target`" in m]
    assert [m for m in messages if "`fail_safe`" in m]


def test_a_layer_keeps_its_number(api, layer):
    read = api.get(f"layers/{layer.pk}/").json()
    response = api.put(f"layers/{layer.pk}/", {**read, "pk": 99})
    assert [error["pointer"] for error in response.json()["errors"]] == ["/pk"]


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({}, ["/name"]),
        ({"name": ""}, ["/name"]),
        ({"name": "x" * 201}, ["/name"]),
        ({"name": 5}, ["/name"]),
        ({"name": "house rules"}, ["/name"]),
        ({"name": "n", "colour": "red", "size": 1}, ["/colour", "/size"]),
        ({"name": "n", "scope": "world"}, ["/scope"]),
        ({"name": "n", "scope": []}, ["/scope"]),
        ({"name": "n", "scope": "agent"}, [""]),
        ({"name": "n", "target": ["x"]}, ["/target"]),
        ({"name": "n", "position": 0}, ["/position"]),
        ({"name": "n", "position": -1}, ["/position"]),
        ({"name": "n", "position": 10**12}, ["/position"]),
        ({"name": "n", "position": True}, ["/position"]),
        ({"name": "n", "enabled": "yes"}, ["/enabled"]),
        ({"name": "n", "valid_from": "tomorrow"}, ["/valid_from"]),
        (
            {
                "name": "n",
                "valid_from": "2026-03-01T00:00:00Z",
                "valid_until": "2026-03-01T00:00:00Z",
            },
            ["/valid_until"],
        ),
        ({"name": "n", "combining": "last_match", "fail_safe": True}, ["/fail_safe"]),
    ],
)
def test_a_wrong_layer_is_refused_with_every_fault(api, layer, sent, pointers):
    before = PolicyVersion.objects.count()
    response = api.post("layers/", sent)
    assert response.status_code == 422, response.content
    assert [error["pointer"] for error in response.json()["errors"]] == pointers
    assert PolicyVersion.objects.count() == before


def test_layers_of_a_scope_are_reordered(api, layer):
    other = make_layer("other")
    order = [other.pk, *(one.pk for one in Layer.objects.order_by("position") if one != other)]
    sent = {"scope": "config", "order": order}
    assert api.post("layers/reorder/", sent).status_code == 428
    assert api.post("layers/reorder/", {**sent, "version": 2}).status_code == 409
    assert api.post("layers/reorder/", sent, If_Match='"2"').status_code == 412
    assert not Layer.objects.filter(pk=other.pk, position=0).exists()
    tag = api.get("policy/").headers["ETag"]
    answer = api.post("layers/reorder/", sent, If_Match=tag).json()
    assert (answer["changed"], answer["policy"]["version"]) == (True, 4)
    assert list(Layer.objects.order_by("position").values_list("pk", flat=True)) == order


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({"scope": "config"}, [""]),
        ({"order": []}, ["/scope"]),
        ({"scope": "config", "order": ["1"]}, ["/order/0"]),
        ({"scope": "config", "order": [1, 1]}, [""]),
        ({"scope": "config", "order": [True]}, ["/order/0"]),
        ({"scope": "config", "order": [1], "version": "2"}, ["/version"]),
        ({"scope": "config", "order": [1], "versoin": 2}, ["/versoin"]),
    ],
)
def test_a_wrong_order_is_refused(api, layer, sent, pointers):
    response = api.post("layers/reorder/", {"version": 2, **sent})
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == pointers


def test_a_layer_is_deleted_by_who_saw_its_version(api, layer):
    assert api.delete(f"layers/{layer.pk}/", If_Match='"2"').status_code == 412
    answer = api.delete(f"layers/{layer.pk}/", If_Match='"1"').json()
    assert (answer["changed"], answer["policy"]["version"]) == (True, 3)
    assert api.get(f"layers/{layer.pk}/").status_code == 404


@pytest.mark.parametrize("method", ["GET", "PATCH", "PUT", "DELETE"])
def test_a_layer_that_is_not_there_is_not_found(api, layer, method):
    whole = {**api.get(f"layers/{layer.pk}/").json(), "pk": 999}
    data = {"PATCH": {}, "PUT": whole}.get(method)
    assert api.send(method, "layers/999/", data, If_Match='"1"').status_code == 404
