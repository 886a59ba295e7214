"""The groups that the migrations make: what each may do, none implied by another."""

from itertools import permutations

import pytest
from django.contrib.auth.models import Group, Permission

from tests.factories import make_user

pytestmark = pytest.mark.django_db
# Rights that stand beside a model that is written once, and change nothing of it.
OTHERS = ("publish_policy", "simulate", "read_reports")
GROUPS = ("approver", "audit reader", "auditor", "author", "operator", "publisher")


def acts(group):
    """Return what a group may change. Simulations and reports change nothing."""
    names = Permission.objects.filter(group__name=group).values_list("codename", flat=True)
    return {name for name in names if not name.startswith(("view_", "simulate", "read_"))}


def test_there_are_six_groups():
    assert sorted(Group.objects.values_list("name", flat=True)) == list(GROUPS)


def test_what_one_group_may_do_no_other_may():
    for one, other in permutations(GROUPS, 2):
        assert not acts(one) & acts(other)


def test_each_group_does_its_own():
    assert {"add_rule", "change_rule", "delete_rule", "add_layer"} <= acts("author")
    assert acts("publisher") == {"publish_policy", "add_legalhold", "change_legalhold"}
    assert acts("auditor") == acts("audit reader") == acts("approver") == set()
    assert {"add_freeze", "change_freeze", "add_apiclient", "change_tool"} <= acts("operator")


def test_an_auditor_sees_everything():
    ours = Permission.objects.filter(content_type__app_label="toolpolicy")
    views = ours.filter(codename__startswith="view_")
    auditor = make_user("ada", groups=("auditor",))
    assert auditor.get_all_permissions() == {
        *(f"toolpolicy.{name.codename}" for name in views),
        *("auth.view_user", "auth.view_group"),
        *("toolpolicy.simulate", "toolpolicy.read_reports"),
    }


def test_an_audit_reader_sees_records_and_reports_and_nothing_else():
    reader = make_user("rita", groups=("audit reader",))
    assert reader.get_all_permissions() == {"toolpolicy.view_record", "toolpolicy.read_reports"}


def test_who_makes_or_publishes_rules_reads_the_calls_that_they_answer():
    reads = {"view_record", "view_recordbody"}
    for group in GROUPS:
        held = Permission.objects.filter(group__name=group, codename__in=reads)
        found = set(held.values_list("codename", flat=True))
        without = group in ("operator", "audit reader")
        assert found == ({"view_record"} if without else reads)


def test_no_group_may_change_the_baseline():
    assert not Group.objects.filter(permissions__codename="change_baseline").exists()
    assert Permission.objects.filter(codename="change_baseline").count() == 1


def test_nobody_can_be_given_a_permission_to_change_what_is_written_once():
    ours = Permission.objects.filter(content_type__app_label="toolpolicy")
    for model in ("record", "recordbody", "document", "policyversion", "tooldeclaration"):
        about = ours.filter(content_type__model=model).exclude(codename__in=OTHERS)
        assert [permission.codename for permission in about] == [f"view_{model}"]
