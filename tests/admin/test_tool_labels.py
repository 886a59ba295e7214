"""Tags and groups are laid over many tools at once, after a look at what that changes."""

import re
from typing import Any

import pytest

from tests.admin.pages import text_of
from tests.admin.tool_list import LIST, cells, sent
from tests.factories import SYSTEM
from tests.registry.samples import last_record
from toolpolicy.models import Record, Tool
from toolpolicy.services import registry
from toolpolicy.services.errors import InvalidInput, Stale
from toolpolicy.services.registry import Labels
from toolpolicy.services.touching import touching

pytestmark = pytest.mark.django_db


def asked(response: Any, **more: Any) -> dict[str, Any]:
    """Return what the page of tags and groups sends."""
    hidden = re.findall(r'<input type="hidden" name="(seen-\d+)" value="(\d+)">', text_of(response))
    found = dict(hidden)
    chosen = [name.removeprefix("seen-") for name in found]
    return {
        "action": "label",
        "asked": "1",
        "change_group": "leave",
        **found,
        **more,
        "_selected_action": chosen,
    }


def test_many_tools_are_tagged_and_grouped_after_a_preview(root, kit):
    page = root.post(LIST, sent(root.get(LIST), *kit.values(), action="label", index="0"))
    assert "Tag and group" in text_of(page)
    change = {"add": "finance, payroll", "change_group": "set", "group": "money"}
    preview = root.post(LIST, asked(page, **change))
    assert "0 → 1 rule" in text_of(preview)  # wipe, which the rule on finance touches from now on
    assert "Change 3 tools" in text_of(preview)
    assert not Tool.objects.exclude(overrides={}).exists()
    before = Record.objects.count()
    assert root.post(LIST, asked(preview, **change, sure="yes")).status_code == 302
    assert Record.objects.count() == before + 1
    for one in Tool.objects.all():
        assert one.overrides == {"tags": ["finance", "payroll"], "group": "money"}
        assert one.version == 2
    record, body = last_record()
    assert (record.kind, record.object_label) == ("change", "several tools")
    assert (
        body["summary"]
        == "tagged with `finance`, tagged with `payroll`, grouped as `money`: 3 tools"
    )
    assert [line["after"]["name"] for line in body["tools"]] == ["read_mail", "send_mail", "wipe"]
    assert touching().count("mail", "wipe") == 1
    assert "tags and group set here" in cells(root.get(LIST), "labels")[0]


def test_tags_are_taken_away_and_a_group_left(root, kit):
    wipe = kit["wipe"]
    registry.label_tools(
        actor=SYSTEM, tools={wipe.pk: 1}, labels=Labels(add=["a", "b"], group="money")
    )
    changed = registry.label_tools(
        actor=SYSTEM, tools={wipe.pk: 2}, labels=Labels(add=["c"], remove=["a"], group="")
    )
    assert changed[0].overrides == {"tags": ["b", "c"], "group": None}
    same = registry.label_tools(actor=SYSTEM, tools={wipe.pk: 3}, labels=Labels(add=["c"]))
    assert same == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Say what to change"),
        ({"change_group": "set"}, "Name the group."),
        ({"add": "x", "remove": "x"}, "`x` is added and taken away"),
        ({"change_group": "perhaps"}, "Select a valid choice"),
        ({"add": "a\u202eb"}, "characters that cannot be seen"),
        ({"change_group": "set", "group": "a\u202eb"}, "characters that cannot be seen"),
    ],
)
def test_what_is_wrong_stands_on_the_page_and_nothing_typed_is_lost(root, kit, change, said):
    page = root.post(LIST, sent(root.get(LIST), kit["wipe"], action="label", index="0"))
    again = root.post(LIST, asked(page, **{**change, "sure": "yes"}))
    assert said in text_of(again).replace("&#x27;", "'")
    assert not Tool.objects.exclude(overrides={}).exists()
    for value in change.values():
        assert value == "perhaps" or f'value="{value}"' in text_of(again)


def test_a_tool_that_somebody_changed_meanwhile_is_not_tagged(root, kit):
    page = root.post(LIST, sent(root.get(LIST), *kit.values(), action="label", index="0"))
    registry.update_tool(
        actor=SYSTEM, family="mail", name="wipe", version=1,
        laid={"overrides": {"tags": ["theirs"]}},
    )  # fmt: skip
    again = root.post(LIST, asked(page, add="ours", sure="yes"))
    assert "It was changed meanwhile" in text_of(again)
    assert [one.overrides for one in Tool.objects.exclude(overrides={})] == [{"tags": ["theirs"]}]


def test_the_service_bounds_and_checks(kit):
    with pytest.raises(InvalidInput):
        registry.label_tools(actor=SYSTEM, tools=dict.fromkeys(range(501), 1), labels=Labels())
    with pytest.raises(InvalidInput):
        registry.label_tools(actor=SYSTEM, tools={kit["wipe"].pk: 1}, labels=Labels(add=["a\0b"]))
    with pytest.raises(Stale):
        registry.label_tools(actor=SYSTEM, tools={kit["wipe"].pk: 9}, labels=Labels(add=["a"]))
    assert not Tool.objects.exclude(overrides={}).exists()
