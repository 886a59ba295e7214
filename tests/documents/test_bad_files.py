"""Bad files in every form that is imported: each fault with file and place, and nothing changes.

What each reader refuses stands beside the reader; here every form meets the same kinds of damage,
as a file on a command line.
"""

import io

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from tests.documents.good_files import GOOD
from tests.factories import make_layer
from tests.registry.samples import imported, named

pytestmark = pytest.mark.django_db

# form, what is wrong, the words replaced one after the other, the faults told
DAMAGE: list[tuple[str, str, list[tuple[str, str]], list[str]]] = [
    (
        "mcp",
        "wrong types and a name twice",
        [("{}", "[]"), ("stop", "run"), ("true", "1")],
        [
            "  box.json#/tools/1/name: `run` stands twice, first at /tools/0/name",
            "  box.json#/tools/0/inputSchema: expected an object, found a list",
            (
                "  box.json#/tools/1/annotations/readOnlyHint: "
                "expected true or false, found an integer"
            ),
        ],
    ),
    (
        "mcp",
        "no list of tools",
        [('"tools"', '"tool"')],
        ["  box.json: the answer to `tools/list` needs `tools`"],
    ),
    (
        "toolspec",
        "a wrong type, an unknown member and a name twice",
        [("{}", "[]"), ("read_only", "readonly"), ("stop", "run")],
        [
            "  box.json#/1/name: `run` stands twice, first at /0/name",
            "  box.json#/0/input_schema: expected an object, found a list",
            "  box.json#/1/readonly: unknown member `readonly`; did you mean `read_only`",
        ],
    ),
    (
        "policy json",
        "a wrong type, an unknown member and an unknown word",
        [('"position": 0', '"position": "0"'), ("match", "macth"), ('deny"', 'dney"')],
        [
            "p.json: /layers/0/position: expected an integer, found a string",
            "p.json: /layers/0/policy/rules/0/macth: unknown member `macth`; did you mean `match`",
            (
                "p.json: /layers/0/policy/rules/0/effect: `dney` is not a known word; "
                "did you mean `deny`"
            ),
        ],
    ),
    (
        "policy yaml",
        "a wrong type, an unknown member and an unknown word",
        [("position: 0", "position: x"), ("match", "macth"), ("deny\n", "dney\n")],
        [
            "p.yaml:4: /layers/0/position: expected an integer, found a string",
            (
                "p.yaml:11: /layers/0/policy/rules/0/macth: unknown member `macth`; "
                "did you mean `match`"
            ),
            (
                "p.yaml:10: /layers/0/policy/rules/0/effect: `dney` is not a known word; "
                "did you mean `deny`"
            ),
        ],
    ),
    (
        "layers json",
        "a wrong type, an unknown member and a name twice",
        [("[]", "{}"), ("match", "macth"), ("guests", "house")],
        [
            "p.json: /0/rules/0/macth: unknown member `macth`; did you mean `match`",
            "p.json: /1/rules: expected a list, found an object",
            "p.json: /1/name: `house` stands twice",
        ],
    ),
    (
        "layers yaml",
        "a wrong type, an unknown member and a name twice",
        [("[]", "{}"), ("match", "macth"), ("guests", "house")],
        [
            "p.yaml:4: /0/rules/0/macth: unknown member `macth`; did you mean `match`",
            "p.yaml:6: /1/rules: expected a list, found an object",
            "p.yaml:5: /1/name: `house` stands twice",
        ],
    ),
    (
        "ordered json",
        "an unknown member",
        [("mode", "mod")],
        [
            "p.json: /0/mod: unknown member `mod`; did you mean `mode`",
            "p.json: /0/mode: a mode is needed; known are on, ask, off, auto",
        ],
    ),
    (
        "ordered yaml",
        "a wrong type and an unknown word",
        [("{name: x}", "5"), ("mode: on", "mode: no")],
        [
            "p.yaml:3: /toolPolicy/0/match: expected an object, found an integer",
            "p.yaml:4: /toolPolicy/0/mode: `no` is not a mode; known are on, ask, off, auto",
        ],
    ),
    (
        "ordered yaml",
        "an id twice",
        [("  mode: on\n", "  mode: on\n- {id: a, match: {name: y}, mode: off}\n")],
        ["p.yaml:5: /toolPolicy/1/id: `a` stands twice"],
    ),
    (
        "front matter",
        "a wrong type and an unknown word",
        [("{name: x}", "5"), ("mode: on", "mode: no")],
        [
            "p.prompt:5: /toolPolicy/0/match: expected an object, found an integer",
            "p.prompt:6: /toolPolicy/0/mode: `no` is not a mode; known are on, ask, off, auto",
        ],
    ),
    (
        "front matter",
        "an unknown member",
        [("toolPolicy", "toolPolcy")],
        ["p.prompt:3: /toolPolcy: unknown member `toolPolcy`; did you mean `toolPolicy`"],
    ),
    (
        "legacy map",
        "a wrong type and an unknown word",
        [("deny", "[1]"), ("ask", "aks")],
        [
            "p.yaml:3: /toolPreferences/files: `aks` is not a mode; known are on, ask, off, auto",
            "p.yaml:2: /toolPreferences/mail: `[1]` is not a mode; known are on, ask, off, auto",
        ],
    ),
    (
        "legacy map",
        "a name twice",
        [("files", "mail")],
        ["p.yaml:3: /toolPreferences/mail: this member stands twice"],
    ),
    (
        "legacy map",
        "an unknown member",
        [("toolPreferences", "toolPreference")],
        [
            (
                "p.yaml:1: /toolPreference: unknown member `toolPreference`; "
                "did you mean `toolPreferences`"
            )
        ],
    ),
]


def counts() -> dict[str, int]:
    """Count the rows of every table there is."""
    return {model.__name__: model._default_manager.count() for model in apps.get_models()}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Write a file and import it by its form's command."""
    monkeypatch.chdir(tmp_path)

    def import_file(form: str, content: str | bytes, *options: str) -> str:
        command, name, _ = GOOD[form]
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        out = io.StringIO()
        call_command(*(word.format(file=name) for word in command), *options, stdout=out)
        return out.getvalue()

    return import_file


@pytest.fixture
def refused(run):
    """Import what has to be refused with nothing changed; return the lines that say why."""
    imported(named("here"), family="other")
    make_layer("here")

    def import_bad(form: str, content: str | bytes) -> list[str]:
        before = counts()
        with pytest.raises(CommandError) as error:
            run(form, content)
        assert counts() == before
        return str(error.value).splitlines()

    return import_bad


@pytest.mark.parametrize("form", GOOD)
def test_what_is_damaged_below_is_good_without_the_damage(form, run):
    assert run(form, GOOD[form][2])


@pytest.mark.parametrize(
    ("form", "slips", "faults"),
    [(form, slips, faults) for form, _, slips, faults in DAMAGE],
    ids=[f"{form}: {what}" for form, what, _, _ in DAMAGE],
)
def test_all_faults_are_told_at_once_and_nothing_changes(form, slips, faults, refused):
    text = GOOD[form][2]
    for good, bad in slips:
        assert good in text
        text = text.replace(good, bad)
    lines = refused(form, text)
    total = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}, nothing was imported"
    (told,) = [line for line in lines if line.endswith("nothing was imported")]
    assert told.removeprefix("box.json: ") == total
    assert sorted(line for line in lines if line != told) == sorted(faults)


@pytest.mark.parametrize("form", GOOD)
def test_a_file_that_is_cut_off_anywhere_in_its_last_line_is_refused(form, refused):
    text = GOOD[form][2]
    # Of a prompt the front matter counts, which is none without its last line.
    whole, name = text.removesuffix("\nHello\n").rstrip(), GOOD[form][1]
    # Lines of YAML that are left whole are a good document.
    start = whole.rindex("\n") + (2 if name.endswith(".yaml") else 1)
    for end in range(start, len(whole)):
        assert refused(form, whole[:end])[0].startswith(name)


@pytest.mark.parametrize("form", GOOD)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\x00", b"7", b'"text"', b"null"])
def test_what_is_no_document_of_its_form_is_refused(form, content, refused):
    assert refused(form, content)[0].startswith(GOOD[form][1])


@pytest.mark.parametrize("form", GOOD)
def test_a_file_beyond_20_mb_is_refused_before_anything_is_parsed(form, refused, monkeypatch):
    def parsed(*_: object) -> None:
        raise AssertionError("the file was parsed")

    monkeypatch.setattr("toolpolicy.engine.strictjson.loads", parsed)
    monkeypatch.setattr("toolpolicy.services.documents.yaml_text.loads", parsed)
    text = GOOD[form][2].encode()
    lines = refused(form, text + b" " * (20 * 1024 * 1024 + 1 - len(text)))
    assert any("more than 20971520 bytes; at most 20971520 are read" in line for line in lines)
