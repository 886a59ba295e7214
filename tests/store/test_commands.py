"""`setup` and `policy`: what a newcomer runs first, and what shows the policy in a terminal."""

import io
import json
import re
import shlex

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError, call_command

from tests.factories import SYSTEM, live_version, make_layer, make_rule
from toolpolicy.models import ApiClient, Layer, PolicyVersion
from toolpolicy.services import clients, policies
from toolpolicy.services.baseline import BASELINE_NAMES

pytestmark = pytest.mark.django_db


def run(*arguments, **options):
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def found(pattern, text):
    match = re.search(pattern, text)
    assert match is not None
    return match[1]


# --- setup ---------------------------------------------------------------------------------------


def test_the_first_setup_makes_a_policy_an_administrator_and_a_key():
    text = run("setup")
    assert {layer.name for layer in Layer.objects.all()} == BASELINE_NAMES
    assert live_version().number == 1
    password = found(r"administrator: admin, password (\S+)", text)
    admin = get_user_model().objects.get(is_superuser=True)
    assert authenticate(username="admin", password=password) == admin
    client = clients.authenticate(key=found(r"API key: (\S+)", text))
    assert client.scopes == ["decide", "explain", "policy:read", "records:read"]
    assert client.owner == admin


def test_the_first_setup_prints_a_command_that_can_be_pasted():
    text = run("setup", url="http://example.test:9/")
    command = shlex.split(text[text.index("curl") :].replace("\\\n", " "))
    assert command[2] == "http://example.test:9/api/v1/decisions/"
    key = found(r"API key: (\S+)", text)
    assert f"Authorization: Bearer {key}" in command
    assert set(json.loads(command[-1])) == {"surface", "tool", "arguments", "context"}


def test_the_second_setup_says_what_is_there_and_changes_nothing():
    first = run("setup", username="root")
    counts = [m.objects.count() for m in (PolicyVersion, ApiClient, get_user_model())]
    second = run("setup")
    assert counts == [m.objects.count() for m in (PolicyVersion, ApiClient, get_user_model())]
    assert second == (
        "policy: version 1 is live\nadministrator: there is one already\n"
        "API key: there is one already\n"
    )
    assert found(r"(tp_live_\S+)", first) not in second


def test_setup_leaves_a_deleted_baseline_layer_deleted():
    run("setup")
    layer = Layer.objects.get(name=min(BASELINE_NAMES))
    policies.delete_layer(actor=SYSTEM, layer=layer.pk, version=1)
    run("setup")
    assert Layer.objects.count() == 2


def test_a_name_that_setup_cannot_give_is_said_in_one_line():
    with pytest.raises(CommandError, match="/username: enter a valid username"):
        run("setup", username="a b")


# --- policy --------------------------------------------------------------------------------------


def test_the_live_policy_is_shown_layer_by_layer():
    layer = make_layer("support", scope="agent", target="bot*", description="For bots.")
    make_rule(layer, id="no-mail", match={"name": "mail_*"}, observe=True, reason="spam")
    text = run("policy", "show")
    assert text.startswith("version 2  ")
    assert "support  (agent 0, deny_overrides, target bot*, default allow, fail_safe true)" in text
    assert "  For bots.\n" in text
    assert '  - no-mail: deny  match {"name": "mail_*"}  observe true  reason spam\n' in text


def test_the_policy_is_shown_as_the_document_that_is_live():
    make_layer()
    make_layer("other")
    assert json.loads(run("policy", "show", "--json")) == policies.working_document()
    first = json.loads(run("policy", "show", "--json", "--version", "1"))
    assert [entry["policy"]["name"] for entry in first["layers"]] == ["house rules"]


def test_what_could_upset_a_terminal_is_shown_escaped():
    make_layer("a\x1b[31m\u202eb", description="line\nline")
    text = run("policy", "show")
    assert "a\\x1b[31m\\u202eb" in text
    assert "line\\nline" in text


def test_without_a_policy_show_says_what_to_do():
    with pytest.raises(CommandError, match=r"`manage\.py setup`"):
        run("policy", "show")


def test_a_version_that_never_was_is_named():
    make_layer()
    with pytest.raises(CommandError, match="there is no policy version 7"):
        run("policy", "show", "--version", "7")


def test_the_history_lists_versions_latest_first():
    make_layer("a")
    make_layer("b")
    lines = run("policy", "history").splitlines()
    assert [line.split("  ")[0] for line in lines] == ["version 2", "version 1"]
    assert lines[0].endswith("tests: added the layer `b`")
    assert len(run("policy", "history", "--limit", "1").splitlines()) == 1
