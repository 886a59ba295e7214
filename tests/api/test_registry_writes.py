"""Families and tools over REST: made, changed, reviewed, put aside; nothing is ever deleted."""

from typing import ClassVar

import pytest

from tests.factories import SYSTEM
from toolpolicy.models import Record, Tool, ToolFamily
from toolpolicy.services import registry

SUBJECT = {"name": "run", "description": "Runs.", "permission": "Write"}
DISPATCHER = {"target": "/tool", "arguments": "/args"}


@pytest.fixture
def pack(api):
    response = api.post("families/", {"name": "pack", "kind": "toolpack"})
    assert response.status_code == 201
    return response.json()


@pytest.fixture
def made(api, pack):
    response = api.post("tools/", {"family": "pack", "subject": SUBJECT})
    assert response.status_code == 200
    return response.json()


def pointers(response, status=422) -> list[str]:
    assert response.status_code == status, response.content
    return [error["pointer"] for error in response.json()["errors"]]


class TestFamilies:
    def test_a_family_is_made_and_read_back(self, api, pack):
        assert (pack["prefix"], pack["trusted"], pack["description"]) == ("", True, "")
        assert api.get(f"families/{pack['pk']}/").json() == pack
        record = Record.objects.newest_first()[0]
        assert (record.kind, record.client, record.family) == ("change", api.client, "pack")

    @pytest.mark.parametrize(
        ("sent", "expected"),
        [
            ({}, [""]),
            ({"name": "a b"}, ["/name"]),
            ({"name": "pack"}, ["/name"]),
            ({"name": "PACK"}, ["/name"]),
            ({"name": "x", "kind": "zoo", "trusted": "no"}, ["/kind", "/trusted"]),
            ({"name": "x", "trust": False}, ["/trust"]),
        ],
    )
    @pytest.mark.usefixtures("pack")
    def test_a_wrong_family_is_refused_with_every_fault(self, api, sent, expected):
        assert pointers(api.post("families/", sent)) == expected
        assert ToolFamily.objects.count() == 1

    @pytest.mark.usefixtures("made")
    def test_trust_is_taken_away(self, api, pack):
        changed = api.patch(f"families/{pack['pk']}/", {"trusted": False, "version": 1}).json()
        assert changed == {**pack, "trusted": False, "version": 2}
        assert not ToolFamily.objects.get().trusted

    @pytest.mark.usefixtures("made")
    def test_what_was_read_can_be_sent_back_but_tools_keep_their_familys_name(self, api, pack):
        path = f"families/{pack['pk']}/"
        assert api.patch(path, pack).json() == pack
        sent = {"name": "other", "kind": "connector", "version": 1}
        assert pointers(api.patch(path, sent)) == ["/name", "/kind"]
        assert api.patch("families/999/", {}).status_code == 404


class TestTools:
    def test_a_hand_made_tool_is_registered_as_reviewed(self, made):
        assert (made["family"], made["name"], made["state"]) == ("pack", "run", "active")
        assert made["declaration"] == made["reviewed"]
        assert made["declared"]["subject"]["permission"] == "Write"

    @pytest.mark.usefixtures("pack")
    def test_what_is_laid_over_comes_along(self, api):
        laid = {"dispatcher": DISPATCHER, "overrides": {"permission": "Execute"}}
        made = api.post("tools/", {"family": "pack", "subject": SUBJECT, **laid}).json()
        assert {name: made[name] for name in laid} == laid

    def test_the_same_tool_declared_otherwise_is_graded(self, api, made):
        subject = {**SUBJECT, "permission": "ReadOnly"}
        again = api.post("tools/", {"family": "pack", "subject": subject}).json()
        assert (again["pk"], again["state"]) == (made["pk"], "quarantined")

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"subject": {}}, ["/subject"]),
            ({"subject": 5}, ["/subject"]),
            ({"family": 5}, ["/family"]),
            ({"subjct": SUBJECT}, ["/subjct"]),
            ({"subject": {"name": "a b", "hints": 5}}, ["/subject/name", "/subject/hints"]),
            ({"subject": {**SUBJECT, "family": "other"}}, ["/subject/family"]),
            (
                {"subject": {**SUBJECT, "dispatcher": {}}, "dispatcher": DISPATCHER},
                ["/subject/dispatcher"],
            ),
            ({"dispatcher": {}, "privilege": []}, ["/dispatcher", "/privilege"]),
            ({"overrides": {"name": "other"}}, ["/overrides/name"]),
        ],
    )
    @pytest.mark.usefixtures("pack")
    def test_a_wrong_tool_is_refused_with_every_fault(self, api, change, expected):
        sent = {"family": "pack", "subject": SUBJECT, **change}
        assert pointers(api.post("tools/", sent)) == expected
        assert not Tool.objects.exists()

    def test_a_body_without_its_members_is_told_so(self, api):
        assert pointers(api.post("tools/", {})) == ["", ""]

    def test_a_family_that_is_not_there_and_one_that_is_imported(self, api):
        registry.import_tools(actor=SYSTEM, family="mail", document=[{"name": "send"}])
        unknown = api.post("tools/", {"family": "nope", "subject": SUBJECT})
        imported = api.post("tools/", {"family": "mail", "subject": SUBJECT})
        assert (unknown.status_code, imported.status_code) == (404, 409)
        assert imported.json()["code"] == "conflict"

    def test_what_is_laid_over_a_tool_is_changed_member_by_member(self, api, made):
        path = f"tools/{made['pk']}/"
        laid = {"dispatcher": DISPATCHER, "overrides": {"permission": "Execute"}}
        api.patch(path, {**laid, "version": 1})
        changed = api.patch(path, {"dispatcher": None}, If_Match='"2"').json()
        assert (changed["dispatcher"], changed["overrides"]) == (None, {"permission": "Execute"})
        entry = registry.live().resolve("run").entry
        assert entry is not None
        assert entry.subject.permission == "Execute"

    def test_a_wrong_change_changes_nothing(self, api, made):
        path = f"tools/{made['pk']}/"
        sent = {"dispatcher": {"target": 5}, "overrides": {"hints": 5}, "state": "retired"}
        assert set(pointers(api.patch(path, sent, If_Match='"1"'))) == {
            "/dispatcher/target",
            "/overrides/hints",
            "/state",
        }
        assert api.get(path).json() == {k: v for k, v in made.items() if k != "warnings"}
        assert api.patch("tools/999/", {}).status_code == 404


class TestWarnings:
    SUBJECT: ClassVar = {"name": "create-issue"}

    @pytest.fixture
    def github(self):
        registry.import_tools(actor=SYSTEM, family="github", document=[{"name": "create_issue"}])

    @pytest.mark.usefixtures("pack", "github")
    def test_a_name_that_looks_like_another_is_warned_of_as_an_import_would(self, api):
        made = api.post("tools/", {"family": "pack", "subject": self.SUBJECT}).json()
        document = [self.SUBJECT]
        report = registry.import_tools(
            actor=SYSTEM, family="other", document=document, dry_run=True
        )
        assert made["warnings"] == [
            {
                "name": "create-issue",
                "like": "github/create_issue",
                "message": "`pack/create-issue` looks like `github/create_issue`: they differ by "
                "separators only",
            }
        ]
        assert [one.wire()["like"] for one in report.warnings] == ["github/create_issue"]
        path = f"tools/{made['pk']}/"
        again = api.patch(path, {"overrides": {"verb": "get"}, "version": 1}).json()
        assert again["warnings"] == made["warnings"]
        assert "warnings" not in api.get(path).json()

    def test_a_name_that_has_the_prefix_twice_is_warned_of(self, api):
        api.post("families/", {"name": "box", "kind": "toolpack", "prefix": "p_"})
        made = api.post("tools/", {"family": "box", "subject": {"name": "p_p_run"}}).json()
        (warning,) = made["warnings"]
        assert "has the prefix `p_` twice" in warning["message"]

    def test_another_name_is_not_warned_of(self, api, made):
        changed = api.patch(f"tools/{made['pk']}/", {"overrides": {}, "version": 1}).json()
        assert made["warnings"] == changed["warnings"] == []


class TestReviews:
    @pytest.fixture
    def changed(self, api, made):
        assert made["state"] == "active"
        subject = {**SUBJECT, "description": "Runs it all."}
        return api.post("tools/", {"family": "pack", "subject": subject}).json()

    def test_a_review_shows_what_changed(self, api, made, changed):
        assert api.get(f"tools/{made['pk']}/review/").json() == {
            "family": "pack",
            "name": "run",
            "state": "changed",
            "declaration": changed["declaration"],
            "reviewed": made["declaration"],
            "changes": [
                {
                    "grade": "wording",
                    "pointer": "/description",
                    "before": "Runs.",
                    "after": "Runs it all.",
                }
            ],
        }

    def test_an_accepted_declaration_is_active(self, api, changed):
        sent = {"verdict": "accept", "declaration": changed["declaration"]}
        answer = api.post(f"tools/{changed['pk']}/review/", sent).json()
        assert (answer["state"], answer["changes"]) == ("active", [])

    @pytest.mark.parametrize(
        ("verdict", "state"), [("quarantine", "quarantined"), ("retire", "retired")]
    )
    def test_a_tool_is_put_aside_and_accepted_again(self, api, made, verdict, state):
        path = f"tools/{made['pk']}/review/"
        assert api.post(path, {"verdict": verdict}).json()["state"] == state
        sent = {"verdict": "accept", "declaration": made["declaration"]}
        assert api.post(path, sent).json()["state"] == "active"

    @pytest.mark.usefixtures("changed")
    def test_what_came_in_meanwhile_is_not_accepted(self, api, made):
        sent = {"verdict": "accept", "declaration": made["declaration"]}
        response = api.post(f"tools/{made['pk']}/review/", sent)
        assert (response.status_code, response.json()["code"]) == (409, "stale")
        assert Tool.objects.get().state == "changed"

    @pytest.mark.parametrize(
        ("sent", "expected"),
        [
            ({}, [""]),
            ({"verdict": "accept"}, [""]),
            ({"verdict": "ok", "declaration": 5}, ["/verdict", "/declaration"]),
            ({"verdict": "retire", "state": "x"}, ["/state"]),
        ],
    )
    def test_a_wrong_verdict_is_refused(self, api, made, sent, expected):
        assert pointers(api.post(f"tools/{made['pk']}/review/", sent)) == expected
        assert Tool.objects.get().state == "active"

    def test_an_unknown_tool_is_not_found(self, api):
        assert api.get("tools/999/review/").status_code == 404
        assert api.post("tools/999/review/", {"verdict": "retire"}).status_code == 404
