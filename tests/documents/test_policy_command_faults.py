"""`manage.py policy import`: every fault with file, line and pointer, and nothing is imported."""

import json

import pytest

from tests.documents.policy_command import POLICY, counts, refused, run
from tests.factories import make_layer
from tests.timing import assert_within
from toolpolicy.services.documents import sources, yaml_text

pytestmark = pytest.mark.django_db

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
        ["p.yaml:12: not YAML: did not find expected ',' or '}'"],
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
        ["p.yaml:11: the last line has no end: the file may have been cut off"],
    ),
    ("empty YAML", "p.yaml", "", ["p.yaml:1: the document is empty"]),
    (
        "cut off JSON",
        "p.json",
        '{"format": "toolpolicy/1",\n "layers": [',
        ["p.json: not JSON: expecting value at line 2, column 13"],
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
        ["p.json: expected an object, found an integer"],
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

    large, small = (file(f"{of}-{name}", start + b"1," * of + end) for of in (10**7, 10**6))
    for path in (large, small):
        message, _ = refused("import", path)
        assert "the document has more than" in message
    assert_within(40, lambda: refused("import", large), lambda: refused("import", small))


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
