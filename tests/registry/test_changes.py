"""What a changed declaration meets, by grade and setting, since its last review (SPEC §8)."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.registry.samples import (
    ADMIN,
    PUBLISHED_COUNTS,
    entry,
    imported,
    last_record,
    needs_published,
    published,
    tool,
)
from toolpolicy.conf import ChangedTools
from toolpolicy.engine.grades import Grade
from toolpolicy.models import Record, Tool
from toolpolicy.services import registry
from toolpolicy.services.errors import Refused

pytestmark = pytest.mark.django_db
EDITS: dict[Any, dict[str, Any]] = {
    Grade.WORDING: {"description": "Runs it all."},
    Grade.OPTIONAL_ARGUMENT: {
        "inputSchema": {"type": "object", "properties": {"at": {"maximum": 5}, "by": {}}}
    },
    Grade.WIDER_ARGUMENT: {"inputSchema": {"type": "object", "properties": {"at": {}}}},
    Grade.NARROWER_ARGUMENT: {
        "inputSchema": {"type": "object", "properties": {"at": {"maximum": 4}}}
    },
    Grade.LOOSENED_HINT: {"annotations": {"readOnlyHint": True}},
    Grade.TIGHTENED_HINT: {"annotations": {"destructiveHint": True}},
    Grade.OTHER: {"outputSchema": {}},
}
FIRST = {
    "description": "Runs.",
    "inputSchema": {"type": "object", "properties": {"at": {"maximum": 5}}},
}


def offered(*, name: str = "run", **members):
    return {"tools": [tool(name, **{**FIRST, **members})]}


def state() -> str:
    return Tool.objects.get(name="run").state


@pytest.fixture
def says(settings):
    def say(grade: Grade, word: str) -> None:
        change = {f"changed_{grade}": ChangedTools(word)}
        settings.TOOLPOLICY = replace(settings.TOOLPOLICY, **change)

    return say


@pytest.mark.parametrize("grade", EDITS)
@pytest.mark.parametrize(
    ("word", "expected"),
    [("accept", "active"), ("changed", "changed"), ("quarantine", "quarantined")],
)
def test_the_setting_of_a_grade_decides_the_state(says, grade, word, expected):
    says(grade, word)
    imported(offered())
    report = imported(offered(**EDITS[grade]))
    (changed,) = report.changed
    assert {change.grade for change in changed.changes} == {grade}
    assert (changed.state, state(), entry("run").state) == (expected,) * 3


@pytest.mark.parametrize(
    ("grade", "expected"),
    [(grade, "quarantined" if grade is Grade.LOOSENED_HINT else "changed") for grade in EDITS],
)
def test_out_of_the_box_a_loosened_hint_is_refused_and_the_rest_asks(grade, expected):
    imported(offered())
    imported(offered(**EDITS[grade]))
    assert state() == expected


def test_the_strictest_of_several_grades_counts(says):
    says(Grade.WORDING, "accept")
    imported(offered())
    imported(offered(**EDITS[Grade.WORDING], **EDITS[Grade.LOOSENED_HINT]))
    assert state() == "quarantined"


def test_a_tool_described_by_hand_meets_the_same_settings(says):
    says(Grade.WORDING, "accept")
    registry.create_family(actor=ADMIN, values={"name": "box", "kind": "toolpack"})

    def declare(**members):
        document = {"name": "run", **members}
        registry.declare_tool(actor=ADMIN, family="box", document=document)

    declare()
    declare(description="Runs.")
    assert state() == "active"
    declare(description="Runs.", hints={"read_only": True})
    assert state() == "quarantined"
    assert [change["grade"] for change in last_record()[1]["changes"]] == [
        "wording",
        "loosened_hint",
    ]


def test_small_accepted_steps_add_up_to_the_whole_since_the_review(says):
    says(Grade.OPTIONAL_ARGUMENT, "accept")
    imported(offered())
    imported(offered(**EDITS[Grade.OPTIONAL_ARGUMENT]))
    assert state() == "active"
    schema = copy.deepcopy(EDITS[Grade.OPTIONAL_ARGUMENT]["inputSchema"])
    report = imported(offered(inputSchema={**schema, "description": "more"}))
    assert [change.grade for change in report.changed[0].changes] == [Grade.WORDING]
    review = registry.review_of(Tool.objects.get(name="run"))
    assert [change.grade for change in review.changes] == [Grade.WORDING, Grade.OPTIONAL_ARGUMENT]


def test_an_accepted_change_is_judged_at_once_and_still_counts_as_unread(says):
    says(Grade.WORDING, "accept")
    imported(offered())
    imported(offered(description="Runs it all."))
    row = Tool.objects.get(name="run")
    assert row.reviewed_id != row.current_id == entry("run").declaration


def test_what_a_grade_quarantined_stays_so_even_when_the_change_is_taken_back():
    imported(offered())
    imported(offered(**EDITS[Grade.LOOSENED_HINT]))
    imported(offered())
    assert state() == "quarantined"


class TestReview:
    def test_a_review_lifts_a_quarantine_and_its_record_holds_every_change(self):
        imported(offered())
        first = Tool.objects.get(name="run").current_id
        imported(offered(**EDITS[Grade.LOOSENED_HINT]))
        row = Tool.objects.get(name="run")
        shown = registry.review_of(row)
        registry.review_tool(actor=ADMIN, family="box", name="run", declaration=row.current_id)
        record, body = last_record()
        assert (state(), record.object_label, body["action"]) == (
            "active",
            "box/run",
            "review_tool",
        )
        assert body["changes"] == shown.wire()["changes"]
        assert body["reviewed"] == {"before": first, "after": row.current_id}
        assert (body["before"]["state"], body["after"]["state"]) == ("quarantined", "active")
        assert registry.review_of(Tool.objects.get(name="run")).changes == ()

    def test_a_review_of_what_was_accepted_is_recorded_though_no_decision_changes(self, says):
        says(Grade.WORDING, "accept")
        imported(offered())
        imported(offered(description="Runs it all."))
        digest = Tool.objects.get(name="run").current_id
        for _ in range(2):  # the second says nothing new
            registry.review_tool(actor=ADMIN, family="box", name="run", declaration=digest)
        assert Record.objects.filter(object_label="box/run").count() == 1
        assert [change["grade"] for change in last_record()[1]["changes"]] == ["wording"]

    def test_a_review_of_another_declaration_than_the_current_one_is_refused(self):
        imported(offered())
        old = Tool.objects.get(name="run").current_id
        imported(offered(description="Runs it all."))
        with pytest.raises(Refused, match="declared anew meanwhile"):
            registry.review_tool(actor=ADMIN, family="box", name="run", declaration=old)
        assert state() == "changed"

    def test_a_tool_that_nobody_ever_reviewed_says_so_and_asks_until_somebody_does(self):
        imported(offered())
        Tool.objects.update(reviewed=None)
        assert registry.review_of(Tool.objects.get()).wire()["reviewed"] is None
        imported(offered(description="Runs it all."))
        assert state() == "changed"


class TestMovedNames:
    def test_a_tool_under_another_name_asks_and_is_reviewed_beside_its_old_name(self):
        imported(offered(name="ran"))
        report = imported(offered())
        assert [(one.name, one.was, one.state) for one in report.moved] == [
            ("run", "ran", "changed")
        ]
        assert (report.vanished, state()) == (("ran",), "changed")
        (change,) = registry.review_of(Tool.objects.get(name="run")).changes
        assert (change.grade, change.before, change.after) == (Grade.MOVED_NAME, "ran", "run")

    @pytest.mark.parametrize("put_aside", [registry.quarantine_tool, registry.retire_tool])
    def test_another_name_is_no_way_out_of_being_put_aside(self, put_aside):
        imported(offered(name="ran"))
        put_aside(actor=ADMIN, family="box", name="ran")
        imported(offered())
        assert state() == Tool.objects.get(name="ran").state

    def test_a_move_may_be_accepted(self, says):
        says(Grade.MOVED_NAME, "accept")
        imported(offered(name="ran"))
        imported(offered())
        assert state() == "active"

    def test_a_dry_run_tells_of_the_move(self):
        imported(offered(name="ran"))
        assert [one.was for one in imported(offered(), dry_run=True).moved] == ["ran"]

    def test_a_new_tool_that_says_something_else_is_just_new(self):
        imported(offered(name="ran"))
        assert imported(offered(description="Walks.")).moved == ()
        assert state() == "active"


def test_the_report_on_the_wire_and_in_the_record_carries_the_grades():
    imported(offered())
    report = imported(offered(description="Runs it all."))
    (changed,) = report.wire()["changed"]
    assert changed["state"] == "changed"
    assert changed["changes"] == [
        {
            "grade": "wording",
            "pointer": "/description",
            "before": "Runs.",
            "after": "Runs it all.",
        }
    ]
    assert last_record()[1]["report"]["changed"] == [changed]


@needs_published
@pytest.mark.parametrize("name", PUBLISHED_COUNTS)
def test_an_edited_list_of_a_published_server_is_graded_right(name):
    document = published(name)
    imported(document, family=name)
    edited = copy.deepcopy(document)
    tools = edited["tools"]
    tools[0]["description"] = "Says something else."
    tools[1].setdefault("annotations", {})["readOnlyHint"] = False
    tools[2]["inputSchema"].setdefault("properties", {})["a_new_one"] = {"type": "string"}
    tools[3]["inputSchema"]["required"] = [
        *tools[3]["inputSchema"].get("required", ()),
        "a_new_one",
    ]
    report = imported(edited, family=name)
    expected = {
        tools[0]["name"]: {"wording"},
        tools[1]["name"]: {"tightened_hint"},
        tools[2]["name"]: {"optional_argument"},
        tools[3]["name"]: {"wider_argument"},
    }
    unchanged = json.dumps(tools[1]) == json.dumps(document["tools"][1])
    if unchanged:  # it said so before
        del expected[tools[1]["name"]]
    found = {one.name: {str(change.grade) for change in one.changes} for one in report.changed}
    assert found == expected
    assert len(report.unchanged) == PUBLISHED_COUNTS[name] - len(expected)
