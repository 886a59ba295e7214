"""Layers in the admin: what the form sends reaches the service, what it refuses comes back."""

import re
from html import unescape

import pytest

from tests.admin.pages import address, errors, form_values, signed_in, staff, text_of
from tests.factories import SYSTEM, live_version, make_layer, make_rule
from toolpolicy.models import Layer, PolicyVersion, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db

NEW = {
    "name": "Chat channels",
    "description": "No deletes asked for in a chat",
    "scope": "channel",
    "target": "telegram-*\nslack-*\n",
    "combining": "deny_overrides",
    "default": "deny",
    "fail_safe": "on",
    "may_waive_approval": "",
    "enabled": "on",
}


def change(layer: Layer) -> str:
    return address("layer", "change", layer.pk)


def test_a_layer_is_made_as_the_form_says_and_is_live_at_once(root):
    before = PolicyVersion.objects.count()
    response = root.post(address("layer", "add"), NEW)
    layer = Layer.objects.get()
    assert response["Location"] == address("layer")
    assert (layer.name, layer.scope, layer.target) == (
        "Chat channels",
        "channel",
        ["telegram-*", "slack-*"],
    )
    assert (layer.default, layer.fail_safe, layer.may_waive_approval) == ("deny", True, False)
    assert PolicyVersion.objects.count() == before + 1


def test_a_change_is_recorded_with_the_person_who_made_it(root):
    root.post(address("layer", "add"), NEW)
    record = Record.objects.get(kind=RecordKind.CHANGE)
    assert (record.actor_label, record.object_label) == ("root", "Chat channels")
    assert record.request_id
    assert live_version().published_by_label == "root"


def test_an_ordered_layer_has_no_default_and_no_fail_safe_reading(root):
    root.post(
        address("layer", "add"), {**NEW, "combining": "last_match", "scope": "config", "target": ""}
    )
    layer = Layer.objects.get()
    assert (layer.default, layer.fail_safe, layer.target) == ("", False, None)
    page = text_of(root.get(change(layer)))
    assert 'name="default"' not in page
    assert 'name="fail_safe"' not in page


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"scope": "config"}, "target", "always applies"),
        ({"name": ""}, "name", "required"),
        ({"name": "taken"}, "name", "`taken` is the name of another layer already"),
        (
            {"valid_from": "2030-01-02T00:00", "valid_until": "2030-01-01T00:00"},
            "valid_until",
            "later than",
        ),
        ({"target": "x" * 1025}, "target", "longer than 1024"),
    ],
)
def test_a_fault_stands_on_its_field_and_what_was_typed_stays(root, changes, field, words):
    make_layer("taken")
    sent = {**NEW, **changes}
    response = root.post(address("layer", "add"), sent)
    assert list(errors(response)) == [field]
    assert words in errors(response)[field][0]
    assert not Layer.objects.filter(name="Chat channels").exists()
    form = response.context["adminform"].form
    assert form["description"].value() == NEW["description"]
    assert form["target"].value() == sent["target"]


@pytest.mark.parametrize("scope", ["agent", "channel", "session"])
def test_a_layer_that_applies_to_no_call_is_saved_with_a_word_of_it(root, scope):
    sent = {**NEW, "scope": scope, "target": ""}
    told = text_of(root.post(address("layer", "add"), sent, follow=True))
    layer = Layer.objects.get()
    assert layer.target == []
    assert "applies to no call yet" in told
    page = root.get(change(layer))
    told = text_of(root.post(change(layer), form_values(page, description="x"), follow=True))
    assert "applies to no call yet" in told
    page = root.get(change(layer))
    told = text_of(root.post(change(layer), form_values(page, target="a*"), follow=True))
    assert "applies to no call yet" not in told


def test_a_layer_for_every_call_needs_no_target(root):
    sent = {**NEW, "scope": "config", "target": ""}
    told = text_of(root.post(address("layer", "add"), sent, follow=True))
    assert "applies to no call yet" not in told


def test_only_what_was_changed_is_sent(root):
    layer = make_layer(valid_from="2030-01-01T00:00:00.123456Z")
    page = root.get(change(layer))
    root.post(change(layer), form_values(page, description="New words", _save="1"))
    layer.refresh_from_db()
    assert layer.description == "New words"
    assert layer.valid_from is not None
    assert layer.valid_from.microsecond == 123456


def test_saving_without_a_change_makes_no_version(root):
    layer = make_layer(target=["a"], scope="agent")
    before = PolicyVersion.objects.count()
    page = root.get(change(layer))
    assert root.post(change(layer), form_values(page, _save="1")).status_code == 302
    assert PolicyVersion.objects.count() == before


def test_a_stale_save_is_refused_names_the_other_and_loses_nothing(root):
    layer = make_layer(description="first")
    opened = root.get(change(layer))
    anna = signed_in(staff("anna", groups=("author",)))
    theirs = form_values(anna.get(change(layer)), description="second", _save="1")
    assert anna.post(change(layer), theirs).status_code == 302

    mine = form_values(opened, description="third", _save="1")
    refused = root.post(change(layer), mine)
    found = errors(refused)
    assert "anna changed this since you opened it" in found["__all__"][0]
    assert found["description"] == ["Stored now: second"]
    assert refused.context["adminform"].form["description"].value() == "third"
    assert "Last changed by <b>anna</b>, <time" in text_of(refused)
    layer.refresh_from_db()
    assert layer.description == "second"

    again = root.post(change(layer), form_values(refused, _save="1"))
    assert again.status_code == 302
    layer.refresh_from_db()
    assert layer.description == "third"


@pytest.mark.parametrize("version", [None, "", "x", "-1"])
def test_a_save_that_names_no_version_is_stale(root, version):
    layer = make_layer()
    sent = form_values(root.get(change(layer)), description="x", seen_version=version, _save="1")
    assert errors(root.post(change(layer), sent))
    layer.refresh_from_db()
    assert layer.description == ""


def test_a_layer_is_deleted_through_the_service(root):
    layer = make_layer()
    make_rule(layer)
    assert "Delete layer" in text_of(root.get(address("layer", "delete", layer.pk)))
    response = root.post(address("layer", "delete", layer.pk), {"post": "yes"})
    assert response.status_code == 302
    assert not Layer.objects.exists()
    assert live_version().comment == "deleted the layer `house rules`"


def test_a_layer_that_changed_since_the_question_is_not_deleted(root):
    layer = make_layer()
    asked = root.get(address("layer", "delete", layer.pk))
    assert f'name="seen_version" value="{layer.version}"' in text_of(asked)
    make_rule(layer)
    sent = {"post": "yes", "seen_version": layer.version - 1}
    response = root.post(address("layer", "delete", layer.pk), sent, follow=True)
    assert b"changed meanwhile" in response.content
    assert Layer.objects.exists()


def test_the_history_of_a_layer_is_its_records(root):
    layer = make_layer("house rules & more")
    make_layer("other")
    page = text_of(root.get(change(layer)))
    link = re.search(r'href="([^"]*kind=change[^"]*)"', page)
    assert link is not None
    listed = root.get(unescape(link[1])).context["cl"].result_list
    assert [record.object_label for record in listed] == ["house rules & more"]


def test_layers_are_listed_as_they_apply(root):
    make_layer("z", scope="session", target=["*"])
    make_layer("y")
    make_layer("x", scope="agent", target=["*"])
    make_layer("w")
    page = root.get(address("layer"))
    assert [layer.name for layer in page.context["cl"].result_list] == ["y", "w", "x", "z"]


def test_the_list_tells_combining_target_and_what_is_unusual(root):
    make_layer(
        "watching", scope="agent", target=["a", "b"], observe=True, enabled=False, fail_safe=False
    )
    make_layer("listed", combining="last_match")
    page = text_of(root.get(address("layer")))
    for words in (
        "Observing",
        "switched off",
        "not fail-safe",
        "strict",
        "ordered",
        "<code>b</code>",
    ):
        assert words in page


def test_a_layer_moves_inside_its_scope(root):
    first, second = make_layer("first"), make_layer("second")
    other = make_layer("other", scope="agent", target=["a"])
    address_of = address("layer", "move", second.pk)
    response = root.post(address_of, {"up": second.pk, "version": 3})
    assert response["Location"] == f"{address('layer')}#layer-{second.pk}-up"
    names = Layer.objects.in_order().values_list("name", flat=True)
    assert list(names) == ["second", "first", "other"]
    already_last = {"down": first.pk, "version": 4}
    said = root.post(address("layer", "move", first.pk), already_last, follow=True)
    assert "“first” is now 2 of 2" in text_of(said)
    assert list(names.all()) == ["second", "first", "other"]
    assert root.get(address_of).status_code == 405
    assert other.position == 0


def test_a_rule_moves_in_its_layer_unless_the_layer_changed_meanwhile(root):
    layer = make_layer()
    first, second = make_rule(layer, id="first"), make_rule(layer, id="second")
    url = address("layer", "move_rule", layer.pk)
    seen = layer.version
    root.post(url, {"up": second.pk, "version": seen})
    assert list(layer.rules.in_order()) == [second, first]
    refused = root.post(url, {"up": first.pk, "version": seen}, follow=True)
    assert "was changed meanwhile: root reordered the rules of the layer" in text_of(refused)
    assert list(layer.rules.in_order()) == [second, first]


@pytest.mark.parametrize("sent", [{}, {"up": "x"}, {"down": "99"}])
def test_moving_no_rule_of_the_layer_says_so(root, sent):
    layer = make_layer()
    make_rule(layer)
    response = root.post(address("layer", "move_rule", layer.pk), sent, follow=True)
    assert b"This rule is gone" in response.content


def test_the_baseline_is_changed_only_with_its_own_permission(baseline):
    layer = Layer.objects.get(name="baseline: untrusted content")
    author = signed_in(staff("author", groups=("author",)))
    page = author.get(change(layer))
    assert not page.context["has_change_permission"]
    assert author.post(change(layer), {"observe": "", "_save": "1"}).status_code == 403
    assert author.post(address("layer", "delete", layer.pk), {"post": "yes"}).status_code == 403

    trusted = signed_in(staff("trusted", groups=("author",), permissions=("change_baseline",)))
    sent = form_values(trusted.get(change(layer)), observe=None, _save="1")
    assert trusted.post(change(layer), sent).status_code == 302
    layer.refresh_from_db()
    assert not layer.observe


def test_taking_the_name_of_a_baseline_layer_is_refused_on_the_page(baseline):
    author = signed_in(staff("author", groups=("author",)))
    name = "baseline: read-only sandbox"
    policies.delete_layer(
        actor=SYSTEM,
        layer=Layer.objects.get(name=name).pk,
        version=Layer.objects.get(name=name).version,
    )
    response = author.post(address("layer", "add"), {**NEW, "name": name})
    assert "change_baseline" in errors(response)["__all__"][0]
