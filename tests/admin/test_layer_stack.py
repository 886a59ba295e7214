"""The stack of layers: drawn as it applies, with what each layer is, says and did, and moved."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.admin.pages import address, decide, text_of
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import Layer

pytestmark = pytest.mark.django_db


def stages(response):
    return {stage.scope: stage.layers for stage in response.context["stages"]}


def test_layers_stand_under_their_scopes_weakest_first_and_empty_scopes_are_named(root):
    make_layer("session", scope="session", target="s-1")
    make_layer("second", position=7)
    make_layer("first", position=2)
    response = root.get(address("layer"))
    found = {
        scope: [one.layer.name for one in layers] for scope, layers in stages(response).items()
    }
    assert found == {
        "config": ["first", "second"],
        "agent": [],
        "channel": [],
        "session": ["session"],
    }
    assert text_of(response).count("No layer of this scope.") == 2


def test_a_layer_says_its_rules_and_how_often_they_matched_in_seven_days(root):
    layer = make_layer("house rules")
    make_rule(layer, match={"name": "drop_*"})
    make_rule(layer, match={"name": "other"})
    for name in ("drop_a", "drop_b", "read"):
        decide(name)
    (shown,) = stages(root.get(address("layer")))["config"]
    assert (shown.rules, shown.hits) == (2, 2)
    page = text_of(root.get(address("layer")))
    assert "2 hits in 7 days" in page
    assert 'role="img" aria-label="Matches a day, the last 7 days: 0, 0, 0, 0, 0, 0, 2"' in page


def test_a_layer_says_what_lint_found_in_it(root):
    layer = make_layer("house rules")
    make_rule(layer, id="no-surface", match={"name": []})
    make_layer("clean")
    imported(named("read"), family="box")
    found, clean = (one.findings for one in stages(root.get(address("layer")))["config"])
    assert "1 fault" in found
    assert 'class="tp-find tp-deny"' in found
    assert clean == ""


@pytest.mark.parametrize(
    ("values", "words", "kind"),
    [
        ({}, "Otherwise allow", ""),
        ({"default": "deny"}, "Otherwise deny", ""),
        ({"combining": "last_match"}, "Otherwise the tool’s own", "is-list"),
        ({"observe": True}, "Observing", "is-observing"),
        ({"enabled": False}, "switched off", "is-off"),
        ({"valid_until": timezone.now() - timedelta(days=1)}, "ended", "is-off"),
        ({"valid_from": timezone.now() + timedelta(days=1)}, "from", "is-off"),
        ({"valid_until": timezone.now() + timedelta(days=1)}, "until", ""),
    ],
)
def test_what_keeps_a_layer_from_simply_applying_is_said(root, values, words, kind):
    make_layer("one", **values)
    page = text_of(root.get(address("layer")))
    assert words in page
    classes = page.split('class="tp-layer')[1].split('"')[0].strip()
    assert classes == kind


def test_a_button_with_nowhere_to_go_is_marked_and_stays_a_button(root):
    first, last = make_layer("a"), make_layer("b")
    ends = {one.layer: one.end for one in stages(root.get(address("layer")))["config"]}
    assert ends == {first: {"up"}, last: {"down"}}
    assert text_of(root.get(address("layer"))).count('aria-disabled="true"') == 2


def test_a_layer_is_put_at_a_place_and_the_filters_stay(root):
    layers = [make_layer(name) for name in "abc"]
    page = address("layer", "move", layers[0].pk) + "?scope=config"
    response = root.post(page, {"place": "2", "version": "3"})
    assert response["Location"].startswith(address("layer") + "?scope=config#")
    assert [layer.name for layer in Layer.objects.in_order()] == ["b", "c", "a"]


def test_moving_is_refused_once_somebody_changed_the_policy(root):
    first, second = make_layer("a"), make_layer("b")
    sent = {"up": second.pk, "version": root.get(address("layer")).context["policy_version"]}
    make_rule(first)
    refused = root.post(address("layer", "move", second.pk), sent, follow=True)
    assert "It was changed meanwhile: you saw version 2, now it is version 3" in text_of(refused)
    assert list(Layer.objects.in_order()) == [first, second]


def test_a_narrowed_stack_is_not_dragged_and_names_no_empty_scopes(root):
    make_layer("a")
    make_layer("b", scope="agent", target="x")
    page = text_of(root.get(address("layer"), {"scope": "agent"}))
    assert "-drag" not in page
    assert "No layer of this scope." not in page
    assert "-drag" in text_of(root.get(address("layer")))


def test_hostile_names_and_targets_are_shown_as_text(root):
    make_layer("<b>x</b>", scope="agent", target="<i>*", description="<script>1</script>")
    page = text_of(root.get(address("layer")))
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<i>*" not in page
    assert "<script>1" not in page


def test_the_stack_asks_the_same_for_one_layer_and_for_many(root):
    make_rule(make_layer("one"))
    root.get(address("layer"))
    with CaptureQueriesContext(connection) as few:
        text_of(root.get(address("layer")))
    for number in range(12):
        make_rule(make_layer(f"layer {number}", scope="agent", target=f"a{number}"))
    with CaptureQueriesContext(connection) as many:
        page = text_of(root.get(address("layer")))
    assert len(many) == len(few) == 12
    assert len(page) < 300_000
