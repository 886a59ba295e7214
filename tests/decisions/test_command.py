"""`manage.py decide`: the same answers from a shell."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.live import make_live, register, strict
from toolpolicy.models import Record

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def policy():
    match = {"name": "git_push", "arg": {"pointer": "/branch", "value": "main"}}
    rule = {"effect": "deny", "match": match, "reason": "main is protected"}
    make_live([strict(rule, settings={"fail_safe": True})])


def run(*arguments):
    out = StringIO()
    call_command("decide", *arguments, stdout=out)
    return out.getvalue()


def asked():
    return Record.objects.filter(kind__in=("decision", "simulation"))


def test_it_says_the_outcome_the_sentence_and_the_record():
    out = run("--tool", "git_push", "--args", '{"branch": "main"}').splitlines()
    assert out[0] == "deny (rule_denied)"
    assert out[1].endswith("in 'base': main is protected.")
    record = asked().get()
    assert out[2] == f"recorded as {record.uid}"
    assert record.kind == "simulation"


def test_it_records_a_decision_when_asked_to():
    run("--tool", "git_push", "--record", "--context", "agent=coder")
    record = asked().get()
    assert (record.kind, record.agent) == ("decision", "coder")


def test_it_explains_rule_by_rule():
    out = run("--tool", "git_push", "--args", '{"branch": {}}', "--explain")
    assert '+ deny r0: matches: name is "git_push", arg /branch is' in out
    assert "(could not be read: arg /branch)  <- decided" in out
    out = run("--tool", "git_push", "--args", '{"branch": "dev"}', "--explain")
    assert '- deny r0: no match: arg /branch is "dev"' in out


def test_it_prints_the_rest_document_as_json():
    document = json.loads(run("--tool", "git_log", "--surface", "catalog", "--json"))
    assert (document["outcome"], document["surface"]) == ("list", "catalog")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tool", "git push"], "/tool/name: `git push` is no tool name"),
        (["--tool", "x", "--args", '{"a": 1, "a": 2}'], "/a: this member stands twice"),
        (["--tool", "x", "--args", "{"], "not JSON"),
        (["--tool", "x", "--context", "agent"], "`agent` is no context entry; write key=value"),
        (["--tool", "x", "--context", "sandbox_mode=off"], "/context/sandbox_mode: `off` is not"),
    ],
)
def test_bad_input_is_named_with_its_place(arguments, words):
    with pytest.raises(CommandError, match=words.replace("`", ".")):
        run(*arguments)
    assert not asked().exists()


@pytest.fixture
def registered():
    register("github", {"name": "git_commit"}, {"name": "git_logs"})
    register("gitlab", {"name": "git-commit"})


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("git_comit", "`github/git_commit` or `gitlab/git-commit`"),
        ("gitcommit", "`github/git_commit` or `gitlab/git-commit`"),
        ("git_log", "`github/git_logs`"),
    ],
)
def test_it_names_what_an_unregistered_name_may_have_been_meant_for(registered, name, like):
    out = run("--tool", name).splitlines()
    assert out[2] == f"`{name}` is not registered; it looks like {like}"
    assert "looks like" not in run("--tool", name, "--json")


@pytest.mark.parametrize("name", ["git_commit", "GIT_COMMIT", "rm", "send_mail"])
def test_it_names_no_other_tool_where_the_name_is_registered_or_like_none(registered, name):
    assert "looks like" not in run("--tool", name)
