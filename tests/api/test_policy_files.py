"""`policy/export|import|schema`: files in and out, with the bytes of the command."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.api.stored import counts
from tests.documents.faces import command
from tests.documents.policy_command import POLICY
from tests.factories import live_version, make_layer, make_rule
from toolpolicy.models import Layer, Record
from toolpolicy.services.documents import sources

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "policy.schema.json"
YAML = POLICY.replace("          on: [call]\n", "")
WRONG = YAML.replace("deny\n", "dney\n").replace("match", "macth")
LAYERS: Any = [{"name": "house rules", "rules": [{"effect": "deny", "match": {"name": "rm_*"}}]}]


def entry(name):
    return {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "policy": {"name": name, "rules": []},
    }


def document(*names):
    return {"format": "toolpolicy/1", "layers": [entry(name) for name in names]}


# --- export ---------------------------------------------------------------------------------------


class TestExport:
    @pytest.mark.parametrize(
        ("query", "option", "media_type"),
        [
            ("", "--json", "application/json"),
            ("?format=json", "--json", "application/json"),
            ("?format=yaml", "--yaml", "application/yaml"),
        ],
    )
    def test_the_bytes_are_those_of_the_command(self, api, query, option, media_type):
        make_rule(make_layer("é\u2028"), id="r", match={"name": "on"}, on=["call"])
        answer = api.get(f"policy/export/{query}")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, media_type)
        assert answer.content.decode() == command("export", option)

    def test_an_older_version_is_exported_by_its_number(self, api):
        make_layer("later")
        answer = api.get("policy/export/?version=1&format=yaml")
        assert answer.content.decode() == command("export", "--version", "1", "--yaml")
        assert answer.headers["ETag"] == '"1"'
        assert api.get("policy/export/?version=9").status_code == 404

    def test_what_is_known_already_is_not_sent_again(self, api):
        tag = api.get("policy/export/?format=yaml").headers["ETag"]
        again = api.get("policy/export/?format=yaml", If_None_Match=tag)
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)

    @pytest.mark.parametrize(
        ("query", "parameter"),
        [("format=xml", "format"), ("version=x", "version"), ("yaml=1", "yaml")],
    )
    def test_a_wrong_parameter_is_named(self, api, query, parameter):
        answer = api.get(f"policy/export/?{query}")
        assert answer.status_code == 400
        assert [error["parameter"] for error in answer.json()["errors"]] == [parameter]

    def test_a_form_that_the_caller_does_not_take_is_refused(self, api):
        answer = api.get("policy/export/?format=yaml", Accept="application/json")
        assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")

    def test_without_a_policy_there_is_nothing_to_export(self, key_with):
        assert key_with("policy:read").get("policy/export/").status_code == 404


def test_the_schema_is_the_published_one(api):
    answer = api.get("policy/schema/")
    assert answer.headers["Content-Type"] == "application/schema+json"
    assert answer.content == SCHEMA.read_bytes()


# --- import ---------------------------------------------------------------------------------------


class TestImport:
    def test_an_export_changed_and_sent_back_is_live(self, api):
        exported = api.get("policy/export/")
        whole = exported.json()
        added = {**entry("more"), "position": 9}
        whole["layers"].append(added)
        sent = {"document": whole}
        answer = api.post("policy/import/", sent, If_Match=exported.headers["ETag"])
        assert answer.status_code == 200, answer.content
        report = answer.json()
        assert (report["form"], report["layers"], report["changed"], report["dry_run"]) == (
            "policy document",
            len(whole["layers"]),
            True,
            False,
        )
        assert [(c["change"], c["layer"]) for c in report["changes"]] == [("added", "more")]
        live = live_version()
        assert report["policy"] == {"version": live.number, "digest": live.document_id}
        record = Record.objects.newest_first()[0]
        assert (record.kind, record.client) == ("change", api.client)

    def test_a_dry_run_says_what_would_change_and_which_version_to_name(self, key_with):
        api = key_with("policy:write")
        make_layer("old")
        before = counts()
        sent = {"document": YAML, "format": "yaml", "dry_run": True}
        tried = api.post("policy/import/", sent).json()
        assert counts() == before
        assert not Record.objects.filter(client=api.client).exists()
        assert (tried["dry_run"], tried["changed"], tried["policy"]["version"]) == (True, True, 1)
        done = api.post(
            "policy/import/", {**sent, "dry_run": False, "version": tried["policy"]["version"]}
        ).json()
        assert done["changes"] == tried["changes"]
        assert [(c["change"], c["layer"]) for c in done["changes"]] == [
            ("added", "house rules"),
            ("removed", "old"),
        ]
        assert done["policy"]["version"] == 2

    def test_added_layers_need_no_version_and_take_the_place_that_is_said(self, api):
        sent = {"document": LAYERS, "mode": "add", "scope": "agent", "target": ["a", "b"]}
        assert api.post("policy/import/", sent).status_code == 200
        layer = Layer.objects.get(name="house rules")
        assert (layer.scope, layer.target) == ("agent", ["a", "b"])
        ordered: Any = {"toolPolicy": [{"match": {"name": "*"}, "mode": "ask"}]}
        sent = {"document": ordered, "mode": "add", "name": "asks"}
        assert api.post("policy/import/", sent).json()["form"] == "ordered policy"
        prompt = "---\nmodel: m\ntoolPreferences: {mail: off}\n---\ntext\n"
        sent = {"document": prompt, "format": "prompt", "mode": "add"}
        assert api.post("policy/import/", sent).json()["changes"][0]["layer"] == "imported"

    def test_the_first_policy_is_imported_over_no_version(self, key_with):
        api = key_with("policy:write")
        tried = api.post("policy/import/", {"document": LAYERS, "dry_run": True}).json()
        assert tried["policy"] == {"version": None, "digest": None}
        done = api.post("policy/import/", {"document": LAYERS, "version": 0})
        assert done.json()["policy"]["version"] == 1

    def test_a_position_that_moved_is_told_as_a_number(self, api):
        answer = api.get("policy/export/")
        whole = answer.json()
        whole["layers"][-1]["position"] += 5
        sent = {"document": whole, "dry_run": True}
        (change,) = api.post("policy/import/", sent).json()["changes"]
        assert (change["change"], change["after"] - change["before"]) == ("moved", 5)

    def test_a_replacement_names_the_version_that_it_replaces(self, key_with):
        make_layer("a")
        api = key_with("policy:write")
        before = counts()
        sent = {"document": document("b")}
        assert api.post("policy/import/", sent).json()["code"] == "version_required"
        answers = [
            api.post("policy/import/", {**sent, "version": 7}),
            api.post("policy/import/", sent, If_Match='"7"'),
            api.post("policy/import/", {**sent, "version": 7, "dry_run": True}),
            api.post("policy/import/", {**sent, "version": 0, "mode": "add"}),
            api.post("policy/import/", {**sent, "version": "1"}),
            api.post("policy/import/", sent, If_Match='"x"'),
        ]
        assert [answer.status_code for answer in answers] == [409, 412, 409, 409, 422, 400]
        assert counts() == before
        assert api.post("policy/import/", sent, If_Match='"1"').status_code == 200

    @pytest.mark.parametrize(
        ("sent", "expected"),
        [
            ({}, [("", None)]),
            ({"document": [], "mod": "add"}, [("/mod", None)]),
            (
                {
                    "document": [],
                    "format": "xml",
                    "mode": "all",
                    "dry_run": 1,
                    "scope": "tool",
                    "target": [1],
                    "name": 5,
                },
                [
                    ("/format", None),
                    ("/mode", None),
                    ("/scope", None),
                    ("/target/0", None),
                    ("/name", None),
                    ("/dry_run", None),
                ],
            ),
            ({"document": {"layers": []}}, [("/document/format", None)]),
            ({"document": 5}, [("/document", None)]),
            ({"document": {}, "format": "yaml"}, [("/document", None)]),
            (
                {"document": WRONG, "format": "yaml"},
                [
                    ("/document/layers/0/policy/rules/0/macth", 10),
                    ("/document/layers/0/policy/rules/0/effect", 9),
                ],
            ),
            ({"document": "- name: a\n  name: b\n", "format": "yaml"}, [("/document/0/name", 2)]),
            ({"document": "- ]\n", "format": "yaml"}, [("/document", 1)]),
            ({"document": "---\na: 1\n---\n", "format": "prompt"}, [("/document", 2)]),
            ({"document": [{}], "scope": "agent"}, [("/document", None)]),
            ({"document": document("b"), "scope": "config"}, [("/document", None)]),
            (
                {"document": [{"name": "n" * 201}], "mode": "add"},
                [("/document/0/name", None)],
            ),
            ({"document": [{"name": "there"}], "mode": "add"}, [("/document/0/name", None)]),
        ],
    )  # fmt: skip
    def test_every_fault_is_named_with_its_place_and_nothing_changes(self, api, sent, expected):
        make_layer("there")
        before = counts()
        answer = api.post("policy/import/", {"version": live_version().number, **sent})
        assert answer.status_code == 422, answer.content
        found = [(error["pointer"], error.get("line")) for error in answer.json()["errors"]]
        assert found == expected
        assert counts() == before

    def test_what_is_too_large_or_too_deep_is_refused_before_it_is_built(self, api, monkeypatch):
        deep = b'{"document":' + b"[" * 33 + b"]" * 33 + b"}"
        assert api.post("policy/import/", deep).status_code == 400
        nested = "[" * 33 + "]" * 33 + "\n"
        answer = api.post("policy/import/", {"document": nested, "format": "yaml"})
        assert [error["code"] for error in answer.json()["errors"]] == ["too_deep"]
        monkeypatch.setattr(sources, "POLICY_TOKENS", 20)
        long = "[" + "1," * 20 + "1]\n"
        answer = api.post("policy/import/", {"document": long, "format": "yaml"})
        assert [error["code"] for error in answer.json()["errors"]] == ["too_large"]

    def test_more_bytes_than_an_import_may_have_are_a_413(self, api, settings):
        settings.TOOLPOLICY = replace(settings.TOOLPOLICY, max_import_bytes=100)
        answer = api.post("policy/import/", {"document": ["x" * 200]})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")

    def test_a_key_cannot_import_the_baseline_away(self, api):
        before = counts()
        sent = {"document": document("b"), "version": 1}
        for dry_run in (True, False):
            answer = api.post("policy/import/", {**sent, "dry_run": dry_run})
            assert (answer.status_code, answer.json()["code"]) == (403, "refused")
        assert counts() == before
