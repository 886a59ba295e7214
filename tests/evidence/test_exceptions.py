"""What stands out about a change: each code where records or accounts prove it, and only there."""

import pytest
from django.contrib.auth.models import Group

from tests.evidence.asked import newest, person, report
from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import register
from toolpolicy.models import RecordBody
from toolpolicy.services import accounts, clients, freezes, holds, policies, registry
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db
FREEZE = {"kind": "agent", "value": "coder", "reason": "a loop"}


@pytest.fixture
def ada(db):
    return person("ada", "author", "publisher", "operator")


@pytest.fixture
def root(db):
    return person("root", superuser=True)


def stands_out() -> list[str]:
    found: list[str] = newest()["exceptions"]
    return found


def test_an_ordinary_change_does_not_stand_out(ada):
    make_rule(make_layer(actor=ada), actor=ada)
    assert stands_out() == []


def test_a_change_that_loosens_in_one_part_stands_out_though_the_whole_is_not_proven(ada):
    layer = make_layer(actor=ada)
    one = make_rule(layer, actor=ada, match={"name": "a"})
    document = policies.working_document()
    document["layers"][0]["policy"]["rules"] = [
        {"id": "another", "effect": "deny", "match": {"name": "b"}}
    ]
    assert one.rule_id != "another"
    policies.import_document(actor=ada, document=document)
    assert newest()["effect"] is None
    assert stands_out() == ["loosens"]


def test_a_superuser_stands_out_but_not_where_nobody_else_may(root, ada):
    make_layer(actor=root)
    assert stands_out() == ["superuser"]
    accounts.save_user(actor=root, user=None, values={"username": "bob"})
    assert stands_out() == []


def test_where_nobody_but_superusers_may_change_anything_that_is_said_once(root):
    person("rita", "auditor")  # who may change nothing
    make_layer(actor=root)
    assert stands_out() == []
    assert report("changes")["superusers_only"] is True
    person("ada", "operator")
    assert stands_out() == ["superuser"]
    assert report("changes")["superusers_only"] is False


def test_a_command_stands_out_because_no_person_is_named(db):
    make_layer(actor=SYSTEM)
    assert stands_out() == ["nobody"]


def test_a_key_is_somebody(db):
    client, _ = clients.create(actor=SYSTEM, values={"name": "robot"})
    make_layer(actor=Actor.for_client(client))
    assert stands_out() == []


@pytest.mark.parametrize("lost", ["group", "switched off", "deleted"])
def test_an_author_who_could_not_do_it_now_stands_out(ada, lost):
    make_layer(actor=ada)
    if lost == "group":
        ada.user.groups.set(Group.objects.filter(name="auditor"))
    elif lost == "switched off":
        ada.user.is_active = False
        ada.user.save()
    else:
        ada.user.delete()
    assert stands_out() == ["role_lost"]


@pytest.mark.parametrize(
    ("group", "told"), [("operator", []), ("author", ["role_lost"]), ("auditor", ["role_lost"])]
)
def test_the_role_is_the_one_that_such_a_change_takes(ada, group, told):
    freezes.freeze(actor=ada, values=FREEZE)
    ada.user.groups.set(Group.objects.filter(name=group))
    assert stands_out() == told


def test_who_manages_accounts_has_to_be_a_superuser_still(root):
    accounts.save_user(actor=root, user=None, values={"username": "bob"})
    root.user.is_superuser = False
    root.user.save()
    assert stands_out() == ["role_lost"]


def test_rolling_back_without_a_reason_stands_out(ada):
    layer = make_layer(actor=ada)
    make_rule(layer, actor=ada)
    policies.roll_back(actor=ada, number=1, why="it stopped the help desk")
    assert "no_reason" not in stands_out()
    policies.roll_back(actor=ada, number=2)
    assert "no_reason" in stands_out()


def test_a_touched_baseline_stands_out_and_its_installation_does_not(db):
    policies.install_baseline(actor=SYSTEM)
    assert stands_out() == ["nobody"]
    document = policies.working_document()
    document["layers"][0]["policy"]["rules"] = []
    policies.import_document(actor=SYSTEM, document=document)
    assert set(stands_out()) >= {"baseline", "nobody"}


@pytest.mark.parametrize(
    ("put_aside", "told"),
    [(registry.quarantine_tool, ["quarantine_lifted"]), (registry.retire_tool, [])],
)
def test_a_lifted_quarantine_stands_out(ada, put_aside, told):
    register("box", {"name": "read"})
    tool = put_aside(actor=ada, family="box", name="read")
    named = {"family": "box", "name": "read", "declaration": tool.current_id}
    registry.review_tool(actor=ada, **named)
    assert (stands_out(), newest()["effect"]) == (told, "loosens")


@pytest.mark.parametrize(("who", "told"), [("ada", []), ("bob", ["lifted_by_another"])])
def test_a_freeze_lifted_by_somebody_else_stands_out(ada, who, told):
    freeze = freezes.freeze(actor=ada, values=FREEZE)
    lifter = ada if who == "ada" else person("bob", "operator")
    freezes.lift(actor=lifter, freeze=freeze.pk)
    assert stands_out() == told


def test_of_keys_their_names_tell_who_froze(ada):
    client, _ = clients.create(actor=ada, values={"name": "guard"})
    freeze = freezes.freeze(actor=Actor.for_client(client), values=FREEZE)
    freezes.lift(actor=Actor.for_client(client), freeze=freeze.pk)
    assert stands_out() == []
    again = freezes.freeze(actor=Actor.for_client(client), values=FREEZE)
    freezes.lift(actor=ada, freeze=again.pk)
    assert stands_out() == ["lifted_by_another"]


def test_a_hold_is_told_when_it_is_placed_and_when_it_is_lifted(ada):
    values = {"name": "case 7", "reason": "a claim", "filter": {"tool": "wipe"}}
    hold = holds.place(actor=ada, values=values)
    assert newest()["comment"] == "placed the hold `case 7`"
    holds.lift(actor=person("bob", "publisher"), hold=hold.pk)
    assert (newest()["comment"], newest()["actor"]["label"]) == ("lifted the hold `case 7`", "bob")
    assert stands_out() == []


@pytest.mark.parametrize(
    ("values", "told"),
    [({"name": "k"}, []), ({"name": "k", "expires_at": None}, ["key_without_end"])],
)
def test_a_key_that_never_expires_stands_out(ada, values, told):
    clients.create(actor=ada, values=values)
    assert stands_out() == told


def test_whoever_is_made_a_superuser_stands_out(root):
    bob = accounts.save_user(actor=root, user=None, values={"username": "bob"})
    accounts.save_user(actor=root, user=bob.pk, values={"is_superuser": True})
    assert stands_out() == ["made_superuser"]
    accounts.save_user(actor=root, user=bob.pk, values={"first_name": "Bob"})
    assert stands_out() == []


def test_changed_rights_of_ones_own_stand_out_and_a_changed_name_does_not(root):
    who = {"is_staff": True, "is_superuser": True}
    accounts.save_user(actor=root, user=root.user.pk, values={**who, "first_name": "R"})
    changed = newest()
    accounts.save_user(
        actor=root, user=root.user.pk, values=who, groups=Group.objects.filter(name="author")
    )
    assert newest()["exceptions"] == ["own_rights"]
    assert changed["comment"] == "changed the user `root`"


def test_without_its_text_nothing_else_is_claimed(ada):
    make_layer(actor=SYSTEM)
    RecordBody.objects.all().delete()
    assert stands_out() == ["text_gone"]
