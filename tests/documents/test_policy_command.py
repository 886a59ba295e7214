"""`manage.py policy`: files in and out, every fault with file, line and pointer."""

import io
import json
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import SYSTEM, live_version, make_layer, make_rule
from tests.timing import seconds
from toolpolicy.models import Layer, PolicyVersion, Record, Rule
from toolpolicy.services import policies
from toolpolicy.services.documents import sources, yaml_text

pytestmark = pytest.mark.django_db
POLICY = """\
format: toolpolicy/1
layers:
  - scope: config
    position: 0
    combining: deny_overrides
    policy:
      name: house rules
      rules:
        - effect: deny
          on: [call]
          match: {name: rm_*}
"""


def run(*arguments):
    out = io.StringIO()
    call_command("policy", *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(*arguments):
    """Return what a command that is refused said, and what it printed before."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("policy", *map(str, arguments), stdout=out)
    return str(caught.value), out.getvalue()


def counts():
    return [model.objects.count() for model in (Layer, Rule, PolicyVersion, Record)]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        Path(name).write_bytes(data)
        return name

    return write


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


# --- what is wrong --------------------------------------------------------------------------------

WRONG = [
    (
        "mistyped words, at their lines",
        "p.yaml",
        POLICY.replace("deny\n", "dney\n").replace("match:", "macth:"),
        [
            (
                "p.yaml:9: /layers/0/policy/rules/0/effect: `dney` is not a known word; "
                "did you mean `deny`"
            ),
            (
                "p.yaml:11: /layers/0/policy/rules/0/macth: unknown member `macth`; "
                "did you mean `match`"
            ),
        ],
    ),
    (
        "cut off",
        "p.yaml",
        POLICY[:-4],
        ["p.yaml:12: /: not YAML: did not find expected ',' or '}'"],
    ),
    (
        "names twice",
        "p.yaml",
        "- name: a\n- name: b\n- name: a\n",
        ["p.yaml:3: /2/name: `a` stands twice"],
    ),
    (
        "a member twice",
        "p.yaml",
        "- name: a\n  name: b\n",
        ["p.yaml:2: /0/name: this member stands twice"],
    ),
    (
        "cut off in a word",
        "p.yaml",
        POLICY.replace("match: {name: rm_*}\n", "reason: no rem"),
        ["p.yaml:11: /: the last line has no end: the file may have been cut off"],
    ),
    ("empty YAML", "p.yaml", "", ["p.yaml:1: /: the document is empty"]),
    (
        "cut off JSON",
        "p.json",
        '{"format": "toolpolicy/1",\n "layers": [',
        ["p.json: /: not JSON: expecting value at line 2, column 13"],
    ),
    (
        "a wrong type",
        "p.json",
        '{"format": "toolpolicy/1", "layers": {}}',
        ["p.json: /layers: expected a list, found an object"],
    ),
    (
        "a number",
        "p.json",
        "1",
        ["p.json: /: expected an object, found an integer"],
    ),
    (
        "a prompt",
        "p.prompt",
        "---\nmodel: m\ntoolPolicy:\n  - match: {}\n    mode: yes\n---\n",
        [
            (
                "p.prompt:4: /toolPolicy/0/match: the match constrains nothing; "
                'a catch-all is written {"name": "*"}'
            ),
            "p.prompt:5: /toolPolicy/0/mode: `yes` is not a mode; known are on, ask, off, auto",
        ],
    ),
    (
        "what upsets a terminal",
        "p.yaml",
        '"a\\e[31m": 1\n',
        [
            "p.yaml:1: /format: expected `toolpolicy/1`, found `null`",
        ],
    ),
    (
        "what only a row refuses",
        "p.yaml",
        "- rules:\n  - effect: deny\n    id: a b\n",
        ["p.yaml:3: /0/rules/0/id: use letters, digits and `. _ : -` only"],
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "lines"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)
def test_faults_are_named_with_file_line_and_pointer_and_nothing_is_imported(
    file, name, content, lines
):
    make_layer("there")
    before = counts()
    message, printed = refused("import", file(name, content))
    assert [line for line in lines if line not in message.splitlines()] == []
    assert message.splitlines()[-1].endswith("nothing was imported")
    assert ("\x1b" in message, printed) == (False, "")
    assert counts() == before


def test_faults_are_answered_as_json(file):
    name = file("p.yaml", "- nmae: a\n")
    message, printed = refused("import", name, "--json")
    [fault] = json.loads(printed)["faults"]
    assert (fault["pointer"], fault["line"], fault["code"]) == ("/0/nmae", 1, "unknown_member")
    assert message.endswith("1 fault, nothing was imported")
    _, printed = refused("import", file("p.json", "["), "--json")
    assert "line" not in json.loads(printed)["faults"][0]


@pytest.mark.parametrize("name", ["p.json", "p.yaml", "p.prompt"])
def test_a_file_of_20_mb_is_refused_without_being_built(file, name, monkeypatch):
    monkeypatch.setattr(sources, "POLICY_TOKENS", 20_000)
    start = b"---\ntoolPolicy: [" if name == "p.prompt" else b"["
    end = b"1]\n---\n" if name == "p.prompt" else b"1]"
    message, _ = refused("import", file(name, start + b"1," * 11_000_000 + end))
    assert "at most 20971520 are read" in message

    def refuse(values: int) -> float:
        path = file(name, start + b"1," * values + end)
        message, _ = refused("import", path)
        assert "the document has more than" in message
        return seconds(lambda: refused("import", path), times=2)

    assert refuse(10_000_000) < 40 * refuse(1_000_000)


def test_the_options_of_bare_rules_are_refused_where_they_mean_nothing(file):
    name = file("policy.yaml", POLICY)
    for option in (("--scope", "config"), ("--name", "x"), ("--target", "x")):
        assert (
            "names scope, target and names of its layers itself"
            in refused("import", name, *option)[0]
        )
    bare = file("p.json", "[{}]")
    assert "needs a target" in refused("import", bare, "--scope", "agent")[0]
    assert "has no target" in refused("import", bare, "--target", "x")[0]


def test_a_layer_that_is_there_is_not_added_twice(file):
    name = file("policy.yaml", POLICY)
    run("import", name)
    message, _ = refused("import", name, "--add")
    at = "policy.yaml:7: /layers/0/policy/name:"
    assert f"{at} the policy has a layer `house rules` already" in message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.json", "[]"),
        ("p.yaml", "[]"),
        ("p.prompt", "---\ntoolPolicy: []\n---\n"),
    ],
)
def test_a_byte_order_mark_before_a_file_is_no_part_of_it(file, name, content):
    assert "read" in run("import", file(name, b"\xef\xbb\xbf" + content.encode()))


def test_a_file_that_is_not_there_is_named(file):
    assert refused("import", "p.json")[0] == "p.json cannot be read: No such file or directory"


@pytest.mark.parametrize("name", ["p.json", "p.yaml", "p.prompt"])
def test_a_file_that_is_cut_off_inside_a_line_is_never_imported(file, name):
    make_layer("there")
    before = counts()
    rules = [{"match": {"name": "a"}, "mode": "on"}, {"match": {"group": "b"}, "mode": "off"}]
    whole = yaml_text.dumps({"toolPolicy": rules})
    whole = {"p.json": json.dumps({"toolPolicy": rules}), "p.yaml": whole}.get(
        name, f"---\n{whole}---\n"
    )
    ends = [n for n in range(len(whole.rstrip())) if whole[n - 1 : n] != "\n"]
    for end in ends if name == "p.yaml" else range(len(whole.rstrip())):
        message, _ = refused("import", file(name, whole[:end]))
        assert message.startswith(f"{name}:")
    assert counts() == before


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
