"""`manage.py policy`: files in and out, versions compared, published, listed, rolled back."""

import io
import json
import sys

import pytest

from tests.documents.policy_command import POLICY, counts, refused, run
from tests.factories import SYSTEM, live_version, make_layer, make_rule
from toolpolicy.models import Layer, Rule
from toolpolicy.services import policies
from toolpolicy.services.documents import yaml_text

pytestmark = pytest.mark.django_db


# --- export ---------------------------------------------------------------------------------------


def test_the_policy_goes_out_and_comes_back_in_both_syntaxes(file):
    make_rule(make_layer("a", description="é\u2028"), id="r", match={"name": "on"}, on=["call"])
    document = policies.export()
    assert json.loads(run("export")) == json.loads(run("export", "--json")) == document
    assert yaml_text.loads(run("export", "--yaml").encode()).value == document
    assert run("export", "--yaml", "--out", "p.yaml") == "p.yaml: 1 layer written\n"
    assert run("export", "--out", "p.json") == "p.json: 1 layer written\n"
    for name in ("p.yaml", "p.json"):
        assert run("import", name).splitlines() == [
            f"{name}: 1 layer read (policy document)",
            "the policy was so already; nothing was written",
        ]


def test_an_older_version_is_exported_by_its_number(file):
    make_layer("a")
    make_layer("b")
    assert len(json.loads(run("export", "--version", "1"))["layers"]) == 1
    assert refused("export", "--version", "7")[0] == "there is no policy version 7"


def test_a_file_that_cannot_be_written_is_named(file):
    make_layer("a")
    message = "missing/p.json cannot be written: No such file or directory"
    assert refused("export", "--out", "missing/p.json")[0] == message


def test_two_versions_are_compared_in_sentences_and_as_json():
    layer = make_layer("house rules")
    rule = make_rule(layer, id="no-mail", match={"name": "mail_*"})
    policies.update_rule(
        actor=SYSTEM,
        rule=rule.pk,
        version=layer.version,
        values={"match": {"name": ["mail_*", "x"]}},
    )
    assert run("diff", "2", "3").splitlines() == [
        "  ~ house rules / no-mail (changed, tightens)",
        "      Deny tools named `mail_*` or `x`",
        "      match.name: added `x`",
    ]
    assert run("diff", "2", "1").splitlines() == [
        "  - house rules / no-mail (removed, loosens)",
        "      Deny tools named `mail_*`",
    ]
    assert run("diff", "3", "3") == "no difference\n"
    answer = json.loads(run("diff", "2", "3", "--json"))
    assert answer == {"before": 2, "after": 3, "changes": policies.diff(before=2, after=3)}
    assert refused("diff", "1", "9")[0] == "there is no policy version 9"


# --- import ---------------------------------------------------------------------------------------


def test_a_dry_run_then_the_import_then_the_way_back(file):
    make_layer("old")
    name = file("policy.yaml", POLICY)
    before = counts()
    changes = ["  + house rules (added, tightens)", "  - old (removed)"]
    first = [f"{name}: 1 layer read (policy document)", *changes]
    assert run("import", name, "--dry-run").splitlines() == [
        *first, "a dry run: nothing was written",
    ]  # fmt: skip
    assert counts() == before
    assert run("import", name).splitlines() == [*first, "version 2 is live"]
    assert Rule.objects.get().surfaces == ["call"]
    assert run("rollback", "1") == "version 3 is live\n"
    assert Layer.objects.get().name == "old"


def test_an_import_answers_as_json(file):
    name = file("policy.yaml", POLICY)
    answer = json.loads(run("import", name, "--json"))
    assert (answer["file"], answer["form"], answer["layers"]) == (name, "policy document", 1)
    assert (answer["changed"], answer["dry_run"]) == (True, False)
    assert answer["policy"] == {"version": 1, "digest": live_version().document_id}
    assert [change["change"] for change in answer["changes"]] == ["added"]
    dry = json.loads(run("import", file("p.json", "[]"), "--dry-run", "--json"))
    assert (dry["changed"], dry["changes"][0]["change"]) == (True, "removed")


def test_layers_are_added_where_the_options_say(file):
    make_layer("there")
    name = file("coders.json", '[{"rules": [{"effect": "deny", "match": {"name": "x"}}]}]')
    text = run("import", name, "--add", "--scope", "agent", "--target", "a*", "--target", "b")
    assert text.splitlines()[1:] == ["  + coders (added, tightens)", "version 2 is live"]
    layer = Layer.objects.get(name="coders")
    assert (layer.scope, layer.target) == ("agent", ["a*", "b"])
    run("import", name, "--add", "--name", "other")
    assert Layer.objects.get(name="other").scope == "config"


def test_a_prompt_carries_its_policy_in_its_front_matter(file):
    name = file(
        "mail.prompt",
        "---\nmodel: m\ntoolPreferences: {mail: deny}\ntoolPolicy:\n"
        "  - match: {name: mail_read}\n    mode: on\n---\nHello\n",
    )
    run("import", name, "--scope", "agent", "--target", "mailer")
    assert [(r.effect, r.match) for r in Rule.objects.in_order()] == [
        ("off", {"group": "mail"}), ("off", {"name": "mail"}), ("on", {"name": "mail_read"}),
    ]  # fmt: skip
    assert Layer.objects.get().name == "mail"


def test_standard_input_is_read_when_its_syntax_is_said(file, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[{}]")))
    run("import", "-", "--format", "json")
    assert Layer.objects.get().name == "imported"
    assert "- has none of the endings .json, .yaml" in refused("import", "-")[0]


# --- publish, roll back, history ------------------------------------------------------------------


def test_publish_makes_rows_live_once():
    assert run("publish") == "version 1 is live\n"
    assert run("publish") == "version 1 is live; it was so already\n"
    answer = json.loads(run("publish", "--json"))
    assert (answer["changed"], answer["policy"]["number"]) == (False, 1)


def test_rolling_back_answers_as_json_and_knows_its_versions():
    make_layer("a")
    make_layer("b")
    answer = json.loads(run("rollback", "1", "--json"))
    assert (answer["changed"], answer["policy"]["number"]) == (True, 3)
    assert answer["policy"]["comment"] == "rolled back to version 1"
    assert refused("rollback", "9")[0] == "there is no policy version 9"


def test_the_history_answers_as_json():
    make_layer("a")
    [version] = json.loads(run("history", "--json"))
    assert (version["number"], version["published_by"]) == (1, "tests")
    assert version["digest"] == live_version().document_id
    assert version["published_at"].endswith("Z")
