"""Tool lists in other people's forms, in and out: nothing is lost, nothing is made up."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.registry.samples import (
    ADMIN,
    PUBLISHED_COUNTS,
    imported,
    named,
    needs_published,
    published,
    tickets,
)
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.mcp import read_tools, write_tools
from toolpolicy.engine.toolspec import read_specs, write_specs
from toolpolicy.engine.words import Hint
from toolpolicy.models import Tool
from toolpolicy.services import registry
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.registry import ToolFormat

FLAGS = {str(hint): False for hint in Hint}
SPECS: list[dict[str, Any]] = [
    {
        "name": "read_file",
        "description": "Reads a file.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
        "read_only": True,
        "idempotent": True,
    },
    {"name": "drop", "destructive": True, "needs_approval": True},
    {"name": "plain"},
]


def read(document, **place):
    return read_specs(document, **{"family": "poly", **place})


def written(declarations, **how):
    return write_specs([one.document for one in declarations], **how)


class TestToolSpecIn:
    @pytest.mark.parametrize("document", [SPECS, {"tools": SPECS}])
    def test_an_absent_flag_is_false(self, document):
        hints = [one.document["subject"]["hints"] for one in read(document)]
        assert hints == [
            {**FLAGS, "read_only": True, "idempotent": True},
            {**FLAGS, "destructive": True, "needs_approval": True},
            FLAGS,
        ]

    def test_permission_and_title_are_derived_and_say_so(self):
        found = [one.document for one in read(SPECS)]
        assert [one["subject"]["permission"] for one in found] == [
            "ReadOnly",
            "Dangerous",
            "Write",
        ]
        assert {tuple(one["derived"]) for one in found} == {("permission", "title")}

    def test_a_prefix_stands_before_every_name(self):
        assert [one.name for one in read(SPECS, prefix="p_")] == [
            "p_read_file",
            "p_drop",
            "p_plain",
        ]

    @pytest.mark.parametrize(
        ("document", "expected"),
        [
            ("tools", [("", "invalid")]),
            (None, [("", "invalid")]),
            ({}, [("", "missing")]),
            ({"tools": {}}, [("/tools", "invalid")]),
            ({"tool": []}, [("/tool", "unknown_member"), ("", "missing")]),
            ([5], [("/0", "invalid")]),
            ([{}], [("/0", "missing")]),
            ([{"name": "a b"}], [("/0/name", "name_refused")]),
            ([{"name": "a\u202eb"}], [("/0/name", "name_refused")]),
            ([{"name": "a", "readonly": True}], [("/0/readonly", "unknown_member")]),
            ([{"name": "a", "read_only": "yes"}], [("/0/read_only", "invalid")]),
            ([{"name": "a", "read_only": None}], [("/0/read_only", "invalid")]),
            (
                [{"name": "a", "description": 5, "input_schema": []}],
                [("/0/description", "invalid"), ("/0/input_schema", "invalid")],
            ),
            ([{"name": "a"}, {"name": "a"}], [("/1/name", "duplicate")]),
            ([{"name": "a"}, {"name": "A"}], [("/1/name", "case_twin")]),
            ([{"name": "LS"}], [("/0/name", "case_twin")]),
            ([{"name": "a", "description": "\ud800"}], [("/0", "invalid")]),
        ],
    )
    def test_a_bad_list_is_refused_with_every_fault(self, document, expected):
        with pytest.raises(Faults) as refused:
            read(document, registered=["ls"])
        assert [(fault.pointer, fault.code) for fault in refused.value.faults] == expected

    def test_an_unknown_flag_is_met_with_the_nearest_known_one(self):
        with pytest.raises(Faults, match="did you mean `read_only`"):
            read([{"name": "a", "readonly": True}])


class TestToolSpecOut:
    def test_flags_that_are_false_are_left_out(self):
        assert written(read(SPECS)) == {"tools": SPECS}

    def test_what_is_written_and_read_again_is_the_same_declaration(self):
        first = read(SPECS, prefix="p_")
        again = read(written(first, prefix="p_"), prefix="p_")
        assert [one.digest for one in again] == [one.digest for one in first]

    def test_a_tool_of_an_mcp_server_is_written_with_what_is_known_of_it(self):
        found = read_tools(tickets(), family="desk")
        specs = {one["name"]: one for one in written(found)["tools"]}
        assert specs["close_ticket"]["destructive"] is True
        assert "read_only" not in specs["close_ticket"]


class TestMcpOut:
    def test_annotations_are_written_as_they_were_published(self):
        found = read_tools(tickets(), family="desk", prefix="d_")
        document = write_tools((one.document for one in found), prefix="d_")
        again = read_tools(document, family="desk", prefix="d_")
        assert [one.digest for one in again] == [one.digest for one in found]
        assert [one.get("annotations") for one in document["tools"]] == [
            one.get("annotations") for one in tickets()["result"]["tools"]
        ]

    def test_a_tool_spec_gets_its_flags_as_annotations(self):
        document = write_tools(one.document for one in read(SPECS))
        assert document["tools"][1] == {
            "name": "drop",
            "annotations": {
                "readOnlyHint": False,
                "destructiveHint": True,
                "idempotentHint": False,
                "openWorldHint": False,
            },
        }

    @needs_published
    @pytest.mark.parametrize("name", PUBLISHED_COUNTS)
    def test_a_published_list_comes_back_as_it_was(self, name):
        document = published(name)
        found = read_tools(document, family=name, prefix="x_")
        again = write_tools((one.document for one in found), prefix="x_")
        digests = [one.digest for one in read_tools(again, family=name, prefix="x_")]
        assert digests == [one.digest for one in found]


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("tools", *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.mark.django_db
class TestCommand:
    def test_specs_are_imported_exported_and_imported_again_without_a_change(self, tmp_path):
        path = tmp_path / "specs.json"
        path.write_text(json.dumps(SPECS), encoding="utf-8")
        place = ("--family", "poly", "--format", "toolspec")
        assert run("import", path, *place, "--prefix", "p_").startswith("poly: 3 added")
        document = json.loads(run("export", *place))
        assert document == {"tools": sorted(SPECS, key=lambda one: one["name"])}
        path.write_text(json.dumps(document), encoding="utf-8")
        assert run("import", path, *place).startswith("poly: 0 added, 0 changed, 3 unchanged")

    def test_an_mcp_server_is_exported_as_such_without_what_vanished(self):
        imported(named("run", "stop"), prefix="x_")
        imported(named("run"))
        (tool,) = json.loads(run("export", "--family", "box"))["tools"]
        assert tool["name"] == "run"

    def test_an_unknown_family_is_refused(self):
        with pytest.raises(CommandError, match="there is no family `nope`"):
            run("export", "--family", "nope")


@pytest.mark.django_db
def test_a_list_in_the_other_form_is_refused_whole():
    with pytest.raises(InvalidInput, match="unknown member `inputSchema`; did you mean"):
        imported(named("run"), form=ToolFormat.TOOLSPEC)
    assert not Tool.objects.exists()


@pytest.mark.django_db
def test_of_an_untrusted_family_no_flag_that_loosens_is_believed():
    registry.create_family(actor=ADMIN, values={"name": "poly", "trusted": False})
    imported(SPECS, family="poly", form=ToolFormat.TOOLSPEC)
    entry = registry.live().resolve("read_file").entry
    assert entry is not None
    hints = dict(entry.subject.hints)
    assert hints == {Hint.NEEDS_APPROVAL: False, Hint.CACHEABLE_APPROVAL: False}
