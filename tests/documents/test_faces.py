"""One case through all three faces: the command, REST and the admin do and say the same."""

import io
import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.admin.pages import address, signed_in, superuser
from tests.api.conftest import Api
from tests.documents.faces import TOLD, as_fields, as_options, command
from tests.factories import SYSTEM, live_version, make_layer, make_rule
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.models import Layer
from toolpolicy.services import clients, policies
from toolpolicy.services.documents.sources import write

pytestmark = pytest.mark.django_db
BEFORE = {"format": "toolpolicy/1", "layers": []}
SENT: dict[str, Any] = {
    "format": "toolpolicy/1",
    "layers": [
        {
            "scope": "agent",
            "target": "coder-*",
            "position": 0,
            "combining": "deny_overrides",
            "policy": {
                "name": "house rules",
                "rules": [{"effect": "deny", "match": {"name": "rm_*"}, "id": "no-rm"}],
            },
        },
        {
            "scope": "config",
            "position": 3,
            "combining": "last_match",
            "policy": {"name": "asks", "rules": [{"match": {"name": "*"}, "mode": "ask"}]},
        },
    ],
}
WRONG = write(SENT, as_yaml=True).replace('"deny"', '"dney"').replace("  mode:", "  mood:")


@pytest.fixture
def api():
    client, key = clients.create(actor=SYSTEM, values={"name": "a", "scopes": ["policy:write"]})
    return Api(key, client)


@pytest.fixture
def admin():
    return signed_in(superuser())


def start() -> None:
    """Make the policy what it is before each face imports."""
    policies.import_document(actor=SYSTEM, document=BEFORE)
    make_rule(make_layer("house rules", scope="agent", target="old-*"), id="no-rm")
    make_layer("to go")


def form_of(text: str, mode: str) -> dict[str, str]:
    return {"text": text, "syntax": "yaml", "mode": mode, "scope": "", "target": "", "name": ""}


@pytest.mark.parametrize("mode", ["replace", "add"])
def test_an_import_comes_to_the_same_policy_and_the_same_report(api, admin, mode):
    sent = json.loads(json.dumps(SENT))
    if mode == "add":
        sent["layers"][0]["policy"]["name"] = "more rules"
    text, found, reports = write(sent, as_yaml=True), [], []

    start()
    options = ["--format", "yaml", "--json", *(["--add"] if mode == "add" else [])]
    reports.append(json.loads(command("import", "-", *options, given=text))["changes"])
    found.append(policies.export())

    start()
    body = {"document": text, "format": "yaml", "mode": mode, "version": live_version().number}
    reports.append(api.post("policy/import/", body).json()["changes"])
    found.append(policies.export())

    start()
    page = admin.post(address("layer", "import"), form_of(text, mode))
    reports.append(page.context["report"].imported.changes)
    admin.post(address("layer", "import"), {"held": page.context["form"]["held"].value()})
    found.append(policies.export())

    assert found[0] == found[1] == found[2]
    assert reports[0] == reports[1] == reports[2]
    assert len(found[0]["layers"]) == (2 if mode == "replace" else 4)


def test_a_wrong_policy_has_the_same_faults_with_the_same_lines(api, admin, tmp_path):
    start()
    before = policies.export()
    out = io.StringIO()
    file = tmp_path / "policy.yaml"
    file.write_text(WRONG, encoding="utf-8")
    with pytest.raises(CommandError) as caught:
        call_command("policy", "import", str(file), "--json", stdout=out)
    assert "3 faults" in str(caught.value)
    expected = [
        (fault["pointer"], fault["line"], fault["message"])
        for fault in json.loads(out.getvalue())["faults"]
    ]

    body = {"document": WRONG, "format": "yaml", "dry_run": True}
    errors = api.post("policy/import/", body).json()["errors"]
    assert expected == [
        (error["pointer"].removeprefix("/document"), error["line"], error["message"])
        for error in errors
    ]

    page = admin.post(address("layer", "import"), form_of(WRONG, "replace"))
    told = [
        re.fullmatch(r"(.*) \(line (\d+), at (.*)\)", text)
        for text in page.context["form"].errors["text"]
    ]
    assert expected == [(m[3], int(m[2]), m[1][:1].lower() + m[1][1:]) for m in told if m]
    assert policies.export() == before


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_makes_the_same_layer(api, admin, name):
    found = []
    for face in ("command", "rest", "admin"):
        policies.import_document(actor=SYSTEM, document=BEFORE)
        if face == "command":
            text = command("recipe", name, *as_options(TOLD[name]))
            command("import", "-", "--format", "json", "--add", given=text)
        elif face == "rest":
            assert api.post(f"policy/recipes/{name}/", TOLD[name]).status_code == 200
        else:
            sent = {**as_fields(TOLD[name]), "sure": "yes"}
            assert admin.post(address("layer", "recipe", name), sent).status_code == 302
        assert Layer.objects.count() == 1
        found.append(policies.export())
    assert found[0] == found[1] == found[2]
