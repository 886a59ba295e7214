"""The simulator: asked by a form or by JSON, and answered with its record."""

import json
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from django.utils.html import escape

from tests.admin.pages import decide, text_of
from tests.admin.simulations import SCHEMA, answer_to, ask, fields_of, protected_push, simulations
from tests.registry.samples import imported, named
from toolpolicy.engine.words import ReasonCode
from toolpolicy.services import decisions
from toolpolicy.services.errors import Unavailable

pytestmark = pytest.mark.django_db

GIVEN = {"branch": "main", "mode": "fast", "count": 3, "ratio": 0.5, "force": False, "files": [1]}


@pytest.fixture
def page():
    return reverse("admin:toolpolicy_simulator")


@pytest.fixture
def push(db):
    return protected_push()


def test_a_call_is_asked_by_a_form_made_of_the_tools_schema(root, page, push):
    shown = root.post(page, {"act": "choose", "surface": "call", "tool": "push", "shown": ""})
    names = fields_of(shown)
    assert list(names) == ["branch", "count", "files", "force", "mode", "ratio"]
    assert escape("Where <b>to</b>") in text_of(shown)
    sent = {
        "branch": "main",
        "mode": "fast",
        "count": "3",
        "ratio": "0.5",
        "force": "false",
        "files": "[1]",
    }
    sent = {names[name]: text for name, text in sent.items()}
    answered = answer_to(
        root, page, tool="push", shown="push", shown_family="git", agent="coder", **sent
    )
    body = json.loads(simulations().get().body.text)
    assert body["asked"]["arguments"] == GIVEN
    assert body["asker"]["label"] == "root"
    shown = text_of(answered)
    assert "Denied" in shown
    assert "ask for a review" in shown
    assert shown.count("is-decider") == 1
    assert 'value="main"' in shown  # the form stays filled in
    assert reverse("admin:toolpolicy_rule_change", args=(push.pk,)) in shown


def test_what_is_left_empty_is_not_given(root, page, push):
    answer_to(root, page, tool="push", shown="push")
    assert json.loads(simulations().get().body.text)["asked"]["arguments"] == {}


def test_json_says_what_no_form_can(root, page, push):
    given = {"branch": "a\nb", "other": None}
    link = urlencode({"tool": "push", "arguments": json.dumps(given)})
    response = root.get(f"{page}?{link}")
    assert not response.context["form"].argument_fields
    answer_to(root, page, tool="push", arguments=json.dumps(given), **{"as": "json"})
    assert json.loads(simulations().get().body.text)["asked"]["arguments"] == given


def test_the_form_and_json_hold_the_same(root, page, push):
    names = fields_of(root.get(page, {"tool": "push"}))
    sent = {"surface": "call", "tool": "push", "shown": "push", names["branch"]: "main"}
    as_json = root.post(page, {"act": "json", **sent})
    assert json.loads(as_json.context["form"]["arguments"].value()) == {"branch": "main"}
    sent = {"surface": "call", "tool": "push", "as": "json", "arguments": '{"count": 2}'}
    as_form = root.post(page, {"act": "form", **sent})
    assert as_form.context["form"][names["count"]].value() == "2"
    assert not simulations().exists()


def test_any_context_can_be_said_and_what_callers_sent_is_offered(root, page, push):
    decide("push", context={"team": "red", "agent": "coder"})
    shown = root.get(page)
    assert '<option value="red">' in text_of(shown)
    answer_to(root, page, tool="push", others="a key=1\nb = 2=3", **{"context.team": "blue"})
    asked = json.loads(simulations().get().body.text)["asked"]
    assert asked["context"] == {"team": "blue", "a key": "1", "b": "2=3"}


def test_a_tool_that_is_described_and_what_its_call_runs_can_be_asked_about(root, page, push):
    subject = {"name": "new", "hints": {"destructive": True}}
    targets = [{"tool": "push", "arguments": {"branch": "main"}}]
    shown = answer_to(root, page, subject=json.dumps(subject), targets=json.dumps(targets))
    assert "because of <code>push</code>" in text_of(shown)


FAULTS = [
    ({"tool": ""}, "tool", "exactly one of"),
    ({"tool": "no name!"}, "tool", "is no tool name"),
    ({"surface": "dream"}, "surface", "not one of the available choices"),
    ({"arguments": "{"}, "arguments", "Not JSON"),
    ({"arguments": '{"a": 1, "a": 2}'}, "arguments", "twice"),
    ({"others": "no equals sign"}, "others", "has no “=”"),
    ({"agent": "a" * 201}, "agent", "at most 200 characters"),
    ({"others": f"x={'a' * 201}"}, "others", "at most 200 characters"),
    ({"context.sandbox_mode": "none"}, "context.sandbox_mode", "not one of"),
    ({"subject": '{"nmae": 1}', "tool": ""}, "subject", "nmae"),
    ({"targets": "3"}, "targets", "Expected a list"),
]


@pytest.mark.parametrize(("sent", "field", "said"), FAULTS)
def test_what_is_wrong_stands_on_its_field_and_nothing_is_lost(root, page, push, sent, field, said):
    full = {"tool": "push", "channel": "web", **sent}
    response = ask(root, page, **full)
    assert response.status_code == 200
    form = response.context["form"]
    assert said in " ".join(form.errors[field])
    assert {name: form[name].value() for name in full} == full
    assert not simulations().exists()


def test_an_argument_of_another_type_is_refused_beside_its_field(root, page, push):
    name = fields_of(root.get(page, {"tool": "push"}))["count"]
    response = ask(root, page, tool="push", shown="push", **{name: "many"})
    assert name in response.context["form"].errors
    response = ask(root, page, tool="push", shown="push", **{name: "true"})
    assert "This is no integer" in " ".join(response.context["form"].errors[name])


def test_a_name_that_is_not_registered_says_what_it_looks_like(root, page, push):
    imported(named("read_file"), family="box")
    for name in ("read-file", "READ_FILE"):
        shown = text_of(root.get(page, {"tool": name}))
        assert "Did you mean <code>box/read_file</code>" in shown


def test_a_name_of_two_families_asks_for_one(root, page, push):
    imported({"tools": [{"name": "push", "inputSchema": SCHEMA}]}, family="other")
    shown = root.get(page, {"tool": "push"})
    assert shown.context["families"] == ("git", "other")
    shown = root.get(page, {"tool": "push", "family": "git"})
    assert fields_of(shown)
    answered = answer_to(root, page, tool="push", family="git", shown="push", shown_family="git")
    assert answered.context["answer"].document["tool"]["family"] == "git"


def test_without_a_policy_the_answer_says_that_there_is_none(root, page):
    shown = text_of(answer_to(root, page, tool="push"))
    assert "No rule was read" in shown
    assert "no_policy" in shown


def test_an_answer_that_cannot_be_recorded_is_none_and_the_form_says_so(
    root, page, push, monkeypatch
):
    def refuse(**_values):
        raise Unavailable(ReasonCode.AUDIT_UNAVAILABLE)

    monkeypatch.setattr(decisions, "decide", refuse)
    response = ask(root, page, tool="push", agent="coder")
    form = response.context["form"]
    assert list(form.errors) == ["__all__"]
    assert form["agent"].value() == "coder"
    assert "h-answer" not in text_of(response)


def test_a_schema_is_only_what_a_server_says(root, page):
    hostile = {
        "properties": {
            "<script>": {"type": "string", "description": "<script>alert(1)</script>" * 99},
            "a\u202eb": {"type": ["string", "null"], "enum": "none"},
            "c": 3,
        },
        "required": "c",
    }
    for name, schema in (("x", hostile), ("y", {"properties": []}), ("z", {"properties": "p"})):
        imported({"tools": [{"name": name, "inputSchema": schema}]}, family=f"f{name}")
        shown = text_of(root.get(page, {"tool": name}))
        assert "<script>alert" not in shown
        assert "\u202e" not in shown
