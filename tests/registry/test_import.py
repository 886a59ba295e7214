"""Importing a tool list: added, changed, vanished, and never half of it (SPEC §8)."""

import copy
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.registry.samples import (
    ADMIN,
    PUBLISHED_COUNTS,
    entry,
    imported,
    last_record,
    named,
    needs_published,
    published,
    tickets,
    tool,
)
from toolpolicy.engine.mcp import HINTS
from toolpolicy.models import Document, PolicyState, Record, Tool, ToolDeclaration, ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.actors import Origin
from toolpolicy.services.errors import InvalidInput

pytestmark = pytest.mark.django_db


def refused(document, **place) -> list[tuple[str, str]]:
    before = state_of_everything()
    with pytest.raises(InvalidInput) as error:
        imported(document, **place)
    assert state_of_everything() == before
    return [(fault.pointer, fault.code) for fault in error.value.faults]


def state_of_everything():
    return (
        list(Tool.objects.order_by("pk").values()),
        list(ToolFamily.objects.order_by("pk").values()),
        ToolDeclaration.objects.count(),
        Record.objects.count(),
        PolicyState.objects.get().registry_digest,
    )


def with_description(name: str, text: str):
    return {"tools": [tool(name, description=text)]}


def test_a_first_import_registers_every_tool_as_reviewed():
    report = imported(tickets(), family="desk")
    assert [name for name, _ in report.added] == ["find_ticket", "close_ticket", "add-comment.v2"]
    assert (report.changed, report.unchanged, report.vanished, report.returned) == ((), (), (), ())
    for row in Tool.objects.all():
        assert (row.state, row.reviewed_id) == ("active", row.current_id)
        assert entry(row.name, "desk").declaration == row.current_id
    assert Tool.objects.get(name="close_ticket").title == "Close a ticket"


def test_the_same_import_again_changes_nothing():
    imported(tickets(), family="desk")
    before = PolicyState.objects.get().registry_digest
    declarations = ToolDeclaration.objects.count()
    report = imported(tickets(), family="desk")
    assert (report.added, report.changed, report.vanished) == ((), (), ())
    assert len(report.unchanged) == 3
    assert report.registry == {"before": before, "after": before}
    assert ToolDeclaration.objects.count() == declarations


def test_an_edited_list_says_what_is_added_changed_and_vanished():
    imported(tickets(), family="desk")
    edited = copy.deepcopy(tickets())
    tools = edited["result"]["tools"]
    tools[0]["description"] = "Looks a ticket up, or several."
    tools[1]["annotations"]["destructiveHint"] = False
    tools[2] = tool("merge_tickets")
    report = imported(edited, family="desk")
    assert [name for name, _ in report.added] == ["merge_tickets"]
    assert [(change.name, change.members) for change in report.changed] == [
        ("find_ticket", ("description",)),
        ("close_ticket", ("annotations", "derived", "hints", "permission")),
    ]
    assert report.vanished == ("add-comment.v2",)
    assert report.unchanged == ()


def test_a_changed_tool_asks_for_approval_until_its_declaration_is_as_reviewed():
    imported(with_description("run", "Runs."))
    imported(with_description("run", "Runs everything."))
    changed = Tool.objects.get(name="run")
    assert changed.state == "changed"
    assert changed.current_id != changed.reviewed_id
    assert entry("run").declaration == changed.current_id
    imported(with_description("run", "Runs."))
    assert Tool.objects.get(name="run").state == "active"


@pytest.mark.parametrize("put_aside", [registry.quarantine_tool, registry.retire_tool])
def test_a_tool_that_was_put_aside_stays_so_whatever_is_imported(put_aside):
    imported(with_description("run", "Runs."))
    put_aside(actor=ADMIN, family="box", name="run")
    state = Tool.objects.get().state
    report = imported(with_description("run", "Runs everything."))
    assert len(report.changed) == 1
    assert Tool.objects.get().state == state


def test_a_vanished_tool_is_kept_and_marked_and_cleared_when_it_is_back():
    imported(named("run", "stop"))
    assert imported(named("run")).vanished == ("stop",)
    gone = Tool.objects.get(name="stop")
    assert gone.vanished_at is not None
    assert imported(named("run")).vanished == ()
    assert Tool.objects.get(name="stop").vanished_at == gone.vanished_at
    report = imported(named("run", "stop"))
    assert (report.returned, report.unchanged) == (("stop",), ("run", "stop"))
    assert Tool.objects.get(name="stop").vanished_at is None


def test_only_what_was_listed_was_seen():
    imported(named("run", "stop"))
    first = Tool.objects.get(name="stop").last_seen_at
    imported(named("run"))
    assert Tool.objects.get(name="stop").last_seen_at == first
    assert Tool.objects.get(name="run").last_seen_at > first


def test_a_returning_tool_that_changed_stands_in_both():
    imported(named("run", "stop"))
    imported(named("run"))
    report = imported({"tools": [tool("run"), tool("stop", description="Now stops more.")]})
    assert report.returned == ("stop",)
    assert [change.name for change in report.changed] == ["stop"]
    row = Tool.objects.get(name="stop")
    assert (row.vanished_at, row.state) == (None, "changed")


def test_a_family_only_sees_its_own_tools_vanish():
    imported(named("run"), family="a")
    report = imported(named("stop"), family="b")
    assert report.vanished == ()
    assert Tool.objects.filter(vanished_at__isnull=False).count() == 0


def test_the_prefix_is_part_of_every_name_and_kept_for_the_next_import():
    imported(named("run"), prefix="mcp__box__")
    assert ToolFamily.objects.get().prefix == "mcp__box__"
    assert entry("mcp__box__run").name == "mcp__box__run"
    assert imported(named("run")).unchanged == ("mcp__box__run",)
    assert imported(named("run"), prefix="mcp__box__").unchanged == ("mcp__box__run",)


def test_a_family_keeps_its_prefix_and_kind_once_it_has_tools():
    imported(named("run"), prefix="mcp__box__")
    expected = [("/prefix", "invalid"), ("/kind", "invalid")]
    assert refused(named("run"), prefix="", kind="toolpack") == expected


def test_an_empty_family_takes_prefix_and_kind_from_its_first_import():
    registry.create_family(actor=ADMIN, values={"name": "box", "trusted": False})
    imported(named("run"), prefix="box_", kind="connector")
    family = ToolFamily.objects.get()
    assert (family.prefix, family.kind, family.trusted) == ("box_", "connector", False)


def test_one_bare_name_may_stand_in_several_families():
    imported(named("search"), family="a")
    imported(named("search"), family="b")
    assert {row.family.name for row in Tool.objects.all()} == {"a", "b"}


def test_a_name_that_differs_from_a_registered_one_by_case_only_is_refused_in_any_family():
    imported(named("search"), family="a")
    document = named("stop", "Search")
    assert refused(document, family="b") == [("/tools/1/name", "case_twin")]
    assert refused(document, family="a") == [("/tools/1/name", "case_twin")]


def test_a_prefix_can_make_a_twin_and_can_avoid_one():
    imported(named("box_run"), family="a")
    assert refused(named("Run"), family="b", prefix="box_") == [("/tools/0/name", "case_twin")]
    assert imported(named("Box_run"), family="b", prefix="b_").added


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({"family": ""}, "/family"),
        ({"family": "a/b"}, "/family"),
        ({"family": "box\u202e"}, "/family"),
        ({"family": "GitHub"}, "/family"),
        ({"prefix": "no good"}, "/prefix"),
        ({"prefix": "x" * 65}, "/prefix"),
        ({"kind": "server"}, "/kind"),
    ],
)
def test_a_bad_place_is_refused_together_with_the_faults_of_the_list(place, expected):
    imported(named("run"), family="github")
    assert refused(named("stop"), **place) == [(expected, "invalid")]
    both = refused({"tools": [tool("stop", title=1)]}, **place)
    assert [pointer for pointer, _ in both] == [expected, "/tools/0/title"]


def test_a_list_with_one_fault_leaves_nothing_behind():
    assert refused({"tools": [tool("run"), tool("bad name")]}) == [
        ("/tools/1/name", "name_refused")
    ]
    assert not ToolFamily.objects.exists()


def test_a_dry_run_reports_the_same_and_writes_nothing():
    imported(tickets(), family="desk")
    before = state_of_everything()
    edited = {"tools": [tool("find_ticket"), tool("new_ticket")]}
    dry = imported(edited, family="desk", dry_run=True)
    assert state_of_everything() == before
    assert (dry.dry_run, dry.registry) == (True, None)
    real = imported(edited, family="desk")
    for member in ("added", "changed", "unchanged", "vanished", "returned"):
        assert getattr(dry, member) == getattr(real, member)


def test_a_dry_run_of_a_new_family_does_not_make_it():
    assert imported(named("run"), dry_run=True).added
    assert not ToolFamily.objects.exists()


def test_an_import_leaves_one_record_with_its_report_and_digests():
    imported(named("run"))
    before = Record.objects.count()
    report = registry.import_tools(
        actor=ADMIN,
        family="box",
        document={"tools": [tool("run", description="More."), tool("stop")]},
        origin=Origin(request_id="r-1", address="192.0.2.1"),
    )
    assert Record.objects.count() == before + 1
    record, body = last_record()
    assert (record.kind, record.family, record.object_label) == ("import", "box", "box")
    assert (record.actor_label, record.request_id) == ("a test", "r-1")
    assert {**body["report"], "registry": body["registry"]} == report.wire()
    assert body["summary"] == "box: 1 added, 1 changed, 0 unchanged, 0 vanished"
    assert body["object"] == {"family": "box"}
    assert body["origin"] == {"request_id": "r-1", "address": "192.0.2.1"}
    row = Tool.objects.get(name="run")
    (change,) = body["report"]["changed"]
    assert (change["before"], change["after"]) == (row.reviewed_id, row.current_id)
    for digest in body["registry"].values():
        assert Document.objects.filter(digest=digest).exists()


def test_an_import_costs_as_many_queries_for_fifty_tools_as_for_one():
    def queries(family: str, count: int, description: str) -> int:
        tools = [tool(f"{family}_{n}", description=description) for n in range(count)]
        with CaptureQueriesContext(connection) as captured:
            imported({"tools": tools}, family=family)
        return len(captured)

    imported(named("warm-up"), family="warm-up")
    assert queries("a", 1, "one") == queries("b", 50, "one")
    assert queries("a", 1, "two") == queries("b", 50, "two")


@needs_published
@pytest.mark.parametrize("name", PUBLISHED_COUNTS)
def test_a_published_server_is_registered_whole_and_again_without_a_change(name):
    document = published(name)
    assert len(imported(document, family=name).added) == PUBLISHED_COUNTS[name]
    for item in document["tools"]:
        row = Tool.objects.select_related("current").get(name=item["name"])
        annotations = item.get("annotations") or {}
        hints = json.loads(row.current.text)["subject"].get("hints", {})
        assert {key: hints.get(str(HINTS[key])) for key in HINTS} == {
            key: annotations.get(key) for key in HINTS
        }
    again = imported(document, family=name)
    assert len(again.unchanged) == PUBLISHED_COUNTS[name]
    assert (again.added, again.changed, again.vanished) == ((), (), ())


@needs_published
def test_all_published_servers_stand_beside_each_other():
    for name in PUBLISHED_COUNTS:
        imported(published(name), family=name)
    assert Tool.objects.count() == sum(PUBLISHED_COUNTS.values()) == 200
    live = registry.live()
    assert len(live) == 200
    assert live.resolve("search_issues").families == ("github", "sentry")
    assert live.resolve("search_issues", "sentry").entry is not None
