"""Recipes: the layers they make, and their pages, whose every command is run as it stands."""

import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.engine.refusals import faults_of
from toolpolicy.engine import recipes
from toolpolicy.engine.documents import dump_policy
from toolpolicy.engine.evaluate import evaluate
from toolpolicy.engine.recipe_options import RECIPES, cook
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Permission
from toolpolicy.services.documents import yaml_text

PAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "recipes"
JSON = re.compile(r"```json\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def judged(layer, subject, **context):
    return evaluate(Policy(layers=(layer,)), parse_subject(subject), context, "call", {})


# --- the layers -----------------------------------------------------------------------------------


def test_an_allowlist_is_for_its_agent_alone():
    layer = recipes.agent_allowlist("a*", ["x", "y"], ["y"])
    verdicts = [judged(layer, {"name": name}, agent="ada").callable for name in "xyz"]
    assert verdicts == [True, False, False]
    assert judged(layer, {"name": "z"}, agent="bob").callable


@pytest.mark.parametrize(
    ("permission", "callable_"),
    [("None", True), ("ReadOnly", True), ("Write", False), ("Dangerous", False), (None, False)],
)
def test_a_ceiling_refuses_what_is_above_it_or_says_nothing(permission, callable_):
    layer = recipes.channel_ceiling("public", Permission.READ_ONLY)
    subject = {"name": "t", **({"permission": permission} if permission else {})}
    assert judged(layer, subject, channel="public").callable is callable_
    assert judged(layer, subject, channel="staff").callable


def test_a_server_filter_touches_its_family_alone():
    layer = recipes.server_filter("f", ["a*"], ["ab"])
    assert [judged(layer, {"name": n, "family": "f"}).callable for n in ("a", "ab", "b")] == [
        True, False, False,
    ]  # fmt: skip
    assert judged(layer, {"name": "b", "family": "g"}).callable
    assert not judged(recipes.server_filter("f", ["a"]), {"name": "b", "family": "f"}).callable
    assert judged(recipes.server_filter("f", deny=["a"]), {"name": "b", "family": "f"}).callable


def test_a_curation_leaves_other_actions_alone():
    layer = recipes.connector_curation("G_*", ["G_A"])
    assert [judged(layer, {"name": n}).callable for n in ("G_A", "G_B", "H_B")] == [
        True, False, True,
    ]  # fmt: skip


def test_toggles_hold_in_their_session_and_say_nothing_of_other_tools():
    layer = recipes.user_toggles("s", {"mail": "off", "send": "ask"})
    mail = {"name": "read", "group": "mail"}
    assert not judged(layer, mail, session="s").callable
    assert judged(layer, mail, session="t").callable
    assert judged(layer, {"name": "send"}, session="s").approval == "required"
    assert judged(layer, {"name": "other"}, session="s").approval == "default"


def test_an_approval_allowlist_asks_for_everything_else():
    layer = recipes.approval_allowlist(["a*"])
    assert [judged(layer, {"name": n}).approval for n in ("ab", "b")] == ["waived", "required"]


@pytest.mark.parametrize(
    ("recipe", "given"),
    [
        (recipes.agent_allowlist, ("a", [])),
        (recipes.server_filter, ("f",)),
        (recipes.connector_curation, ("G_*", [])),
        (recipes.user_toggles, ("s", {})),
        (recipes.approval_allowlist, ([],)),
        (recipes.channel_ceiling, ("c", Permission.DANGEROUS)),
    ],
)
def test_a_recipe_that_would_restrict_nothing_is_refused(recipe, given):
    assert len(faults_of(recipe, *given)) == 1


def test_a_toggle_that_is_no_mode_is_refused():
    assert faults_of(recipes.user_toggles, "s", {"a": "maybe"}) == [
        ("/toolPreferences/a", "bad_mode")
    ]


# --- the pages ------------------------------------------------------------------------------------


def run(line, given=b""):
    """Run `manage.py COMMAND`, or two of them in a pipe, and return what is printed."""
    first, pipe, rest = line.partition(" | ")
    name, *arguments = shlex.split(first)[1:]
    out, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    try:
        call_command(name, *arguments, stdout=out)
    finally:
        sys.stdin = stdin
    return run(rest, out.getvalue().encode()) if pipe else out.getvalue()


def played(page):
    """Return a page with what its commands print now; the id of a record is another each time."""
    lines = [line[2:] for block in CONSOLE.findall(page) for line in block.splitlines()
             if line.startswith("$ ")]  # fmt: skip
    outputs = [re.sub(r"recorded as .*\n", "", run(line)) for line in lines]
    said = "\n".join(f"$ {line}\n{text}" for line, text in zip(lines, outputs, strict=True))
    return CONSOLE.sub(lambda _: f"```console\n{said}```", page)


@pytest.mark.django_db
@pytest.mark.parametrize("name", RECIPES)
def test_every_command_of_a_page_answers_as_the_page_says(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert f"$ manage.py policy recipe {name} " in page
    call_command("setup", stdout=io.StringIO())  # as the index says
    assert played(page) == page


@pytest.mark.parametrize("name", RECIPES)
def test_a_page_names_its_form_and_a_body_that_makes_the_layer_of_its_first_command(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert f"`POST /api/v1/policy/recipes/{name}/`" in page
    assert f"*Layers*, *Start from a recipe*, *{RECIPES[name].title}*" in page
    (body,) = JSON.findall(page)
    line = next(line for line in page.splitlines() if line.startswith("$ "))
    made = yaml_text.loads(run(line[2:]).encode()).value
    assert dump_policy(Policy(layers=(cook(RECIPES[name], json.loads(body)),))) == made


def test_every_recipe_has_its_page_and_the_index_names_it():
    names = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    assert names == set(RECIPES)
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert [name for name in names if f"[{name}]({name}.md)" not in index] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("channel-ceiling", "--channel", "c", "--level", "Dangerous"), "/level: nothing is above"),
        (("server-filter", "--family", "f"), "/allow: name at least one tool"),
        (("user-toggles", "--session", "s", "--toggles", "a"), "`a` is no toggle; write tool=mode"),
        (
            ("user-toggles", "--session", "s", "--toggles", "a=on", "b=on", "a=off"),
            "/toggles/a: `a` stands twice",
        ),
        (("agent-allowlist", "--agent", "a"), "--allow"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_on_the_command_line(arguments, message):
    with pytest.raises(CommandError, match=re.escape(message)):
        call_command("policy", "recipe", *arguments)
