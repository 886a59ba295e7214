"""A slip anywhere in a body about the registry is told with its place and what was meant."""

import pytest

from tests.factories import SYSTEM
from tests.registry.samples import imported, named
from toolpolicy.models import PolicyState, Tool, ToolFamily
from toolpolicy.services import registry

RUN = {"family": "pack", "subject": {"name": "run"}}
TARGET = {"target": "/tool"}
RAISES = {"pointer": "/mode", "patterns": "rm", "level": "Dangerous"}
LIST = {"family": "mail", "document": [{"name": "send"}]}
SPEC = {"family": "mail", "format": "toolspec"}


@pytest.fixture
def paths(api):
    registry.create_family(actor=SYSTEM, values={"name": "pack", "kind": "toolpack"})
    imported(named("stop"))
    pk, family = Tool.objects.get().pk, ToolFamily.objects.get(name="pack").pk
    return {
        "family": f"families/{family}/",
        "tool": f"tools/{pk}/",
        "review": f"tools/{pk}/review/",
    }


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", "families/", {"name": "x", "trustd": True}, ("/trustd", "trusted")),
        ("PATCH", "family", {"descripton": "x"}, ("/descripton", "description")),
        ("PATCH", "family", {"kind": "toolpak"}, ("/kind", "toolpack")),
        ("POST", "tools/", {**RUN, "overides": {}}, ("/overides", "overrides")),
        ("POST", "tools/", {**RUN, "versoin": 1}, ("/versoin", "version")),
        ("POST", "tools/", {"family": "pack", "subjct": {}}, ("/subjct", "subject")),
        (
            "POST",
            "tools/",
            {"family": "pack", "subject": {"name": "run", "permision": "Write"}},
            ("/subject/permision", "permission"),
        ),
        (
            "POST",
            "tools/",
            {"family": "pack", "subject": {"name": "run", "hints": {"readonly": True}}},
            ("/subject/hints/readonly", "read_only"),
        ),
        (
            "POST",
            "tools/",
            {**RUN, "dispatcher": {**TARGET, "argument": "/a"}},
            ("/dispatcher/argument", "arguments"),
        ),
        ("PATCH", "tool", {"privelege": None}, ("/privelege", "privilege")),
        ("PATCH", "tool", {"overrides": {"tag": []}}, ("/overrides/tag", "tags")),
        (
            "PATCH",
            "tool",
            {"privilege": [{**RAISES, "levle": "x"}]},
            ("/privilege/0/levle", "level"),
        ),
        ("POST", "review", {"verdict": "retire", "declared": "x"}, ("/declared", "declaration")),
        ("POST", "review", {"verdict": "retired"}, ("/verdict", "retire")),
        ("POST", "tools/import/", {**LIST, "dryrun": True}, ("/dryrun", "dry_run")),
        ("POST", "tools/import/", {**LIST, "format": "toolspecs"}, ("/format", "toolspec")),
        ("POST", "tools/import/", {**LIST, "kind": "conector"}, ("/kind", "connector")),
        (
            "POST",
            "tools/import/",
            {**SPEC, "document": {"tools": [{"name": "a", "readonly": True}]}},
            ("/document/tools/0/readonly", "read_only"),
        ),
    ],
)
def test_a_slip_is_named_with_its_place_and_what_was_meant(
    api, paths, method, path, body, expected
):
    pointer, meant = expected
    before = PolicyState.objects.get().registry_digest
    response = api.send(method, paths.get(path, path), body, **{"If-Match": '"1"'})
    assert response.status_code == 422
    found = {fault["pointer"]: fault["message"] for fault in response.json()["errors"]}
    assert f"did you mean `{meant}`" in found[pointer]
    assert PolicyState.objects.get().registry_digest == before
