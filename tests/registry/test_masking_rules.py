"""What records do not show: rules for all tools, families and tools, written and made live."""

import json

import pytest

from tests.live import SYSTEM, register
from toolpolicy.models import Document, PolicyState, Record, Tool, ToolFamily
from toolpolicy.services import masking, registry
from toolpolicy.services.errors import InvalidInput, NotFound, Stale

pytestmark = pytest.mark.django_db


@pytest.fixture
def kit(db):
    register("kit", {"name": "send"})
    register("bank", {"name": "pay"})


def state():
    return PolicyState.objects.get()


def live():
    return json.loads(Document.objects.get(digest=state().masking_digest).text)


def last():
    return json.loads(Record.objects.filter(kind="change").latest("pk").body.text)


def test_nothing_is_stored_before_the_first_change(kit):
    assert state().masking_digest == ""
    assert masking.load("").everywhere.key("password") == ("all tools", "password")
    assert masking.everywhere().rules == {}


def test_a_change_for_all_tools_is_live_and_recorded(kit):
    registry_digest = state().registry_digest
    row = masking.change(actor=SYSTEM, version=1, rules={"keys": ["iban"], "mode": "full"})
    assert (row.version, row.rules) == (2, {"keys": ["iban"], "mode": "full"})
    assert live()["all"] == row.rules
    assert state().registry_digest == registry_digest
    body = last()
    assert (body["action"], body["before"], body["after"]) == ("change_masking", {}, row.rules)
    assert body["masking"] == {"before": "", "after": state().masking_digest}
    masking.change(actor=SYSTEM, version=2, rules={"keys": []})
    assert masking.everywhere().rules == {"keys": [], "mode": "full"}


def test_what_changes_nothing_leaves_no_record(kit):
    masking.change(actor=SYSTEM, version=1, rules={"mode": "masked"})
    count = Record.objects.count()
    assert masking.change(actor=SYSTEM, version=2, rules={"mode": "masked"}).version == 2
    assert Record.objects.count() == count


def test_a_change_of_what_somebody_else_changed_is_stale(kit):
    masking.change(actor=SYSTEM, version=1, rules={"mode": "digest"})
    with pytest.raises(Stale):
        masking.change(actor=SYSTEM, version=1, rules={"mode": "full"})


@pytest.mark.parametrize("rules", [{"mode": "x"}, {"keys": 1}, {"other": 1}, {"pointers": ["x"]}])
def test_rules_that_mean_nothing_are_refused(kit, rules):
    with pytest.raises(InvalidInput):
        masking.change(actor=SYSTEM, version=1, rules=rules)
    assert state().masking_digest == ""


def test_rules_of_families_and_tools_stand_in_the_live_document_alone(kit):
    registry_digest = state().registry_digest
    version = ToolFamily.objects.get(name="bank").version
    registry.update_family(
        actor=SYSTEM, name="bank", version=version, values={"masking": {"keys": ["iban"]}}
    )
    assert last()["masking"]["after"] == state().masking_digest
    version = Tool.objects.get(name="send").version
    laid = {"masking": {"mode": "digest"}}
    registry.update_tool(actor=SYSTEM, family="kit", name="send", version=version, laid=laid)
    body = last()
    assert (body["before"].get("masking"), body["after"]["masking"]) == (None, laid["masking"])
    assert live() == {
        "format": "toolpolicy-masking/1",
        "all": {},
        "families": {"bank": {"keys": ["iban"]}},
        "tools": [{"family": "kit", "name": "send", "rules": {"mode": "digest"}}],
    }
    assert state().registry_digest == registry_digest


def test_rules_are_taken_away_again_and_other_changes_leave_them(kit):
    tool = Tool.objects.get(name="send")
    for laid in ({"masking": {"mode": "full"}}, {"overrides": {"group": "x"}}, {"masking": None}):
        tool.refresh_from_db()
        registry.update_tool(
            actor=SYSTEM, family="kit", name="send", version=tool.version, laid=laid
        )
        if "overrides" in laid:
            assert len(live()["tools"]) == 1
            assert "masking" not in last() or last()["masking"] == {"mode": "full"}
    assert live()["tools"] == []


def test_a_new_family_and_a_new_tool_can_bring_rules(kit):
    values = {"name": "crm", "kind": "toolpack", "masking": {"pointers": ["/note"]}}
    registry.create_family(actor=SYSTEM, values=values)
    laid = {"masking": {"keys": ["vat"]}}
    registry.declare_tool(actor=SYSTEM, family="crm", document={"name": "add"}, laid=laid)
    assert live()["families"] == {"crm": {"pointers": ["/note"]}}
    assert live()["tools"] == [{"family": "crm", "name": "add", "rules": {"keys": ["vat"]}}]


def test_rules_that_nobody_kept_are_not_guessed(db):
    with pytest.raises(NotFound):
        masking.load("sha256:gone")
