"""The access review: people, keys and agents, and what about them deserves a look."""

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.admin.pages import decide
from tests.evidence.asked import around_now, person, report
from tests.factories import SYSTEM
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.models import ApiClient
from toolpolicy.services import clients
from toolpolicy.services.evidence.access import WORDS, access
from toolpolicy.services.evidence.reports import ReportName, export

pytestmark = pytest.mark.django_db


def people():
    return {one["name"]: one for one in report("access")["people"]}


def keys():
    return {one["name"]: one for one in report("access")["keys"]}


def test_people_stand_with_groups_permissions_and_last_sign_in(db):
    ada = person("ada", "auditor", "operator").user
    ada.last_login = timezone.now()
    ada.save()
    found = people()["ada"]
    assert found["groups"] == ["auditor", "operator"]
    assert {"read_reports", "add_freeze", "view_record"} <= set(found["permissions"])
    assert "change_rule" not in found["permissions"]
    assert (found["active"], found["superuser"], found["flags"]) == (True, False, [])


@pytest.mark.parametrize(
    ("groups", "changed", "flags"),
    [
        ((), {"is_superuser": True}, ["superuser", "never"]),
        (("author", "publisher"), {}, ["writes_and_publishes", "never"]),
        (("author",), {"days": 1}, []),
        (("author",), {"days": 40}, ["not_in_period"]),
        (("author", "publisher"), {"is_active": False}, ["switched_off"]),
    ],
)
def test_what_deserves_a_look_about_a_person_is_said(groups, changed, flags):
    user = person("ada", *groups).user
    days = changed.pop("days", None)
    user.last_login = timezone.now() - timedelta(days=days) if days else None
    for name, value in changed.items():
        setattr(user, name, value)
    user.save()
    found = {one["name"]: one for one in report("access", around_now(days=30))["people"]}
    assert found["ada"]["flags"] == flags


def test_permissions_given_to_a_person_beside_groups_are_said(db):
    user = person("ada").user
    user.user_permissions.add(Permission.objects.get(codename="change_baseline"))
    assert people()["ada"]["permissions"] == ["change_baseline"]
    assert "own_permissions" in people()["ada"]["flags"]


def test_keys_stand_with_scopes_pins_owner_and_use(db):
    owner = person("ada")
    values = {"name": "helpdesk", "scopes": ["decide"], "pinned_context": {"agent": "coder"}}
    clients.create(actor=owner, values=values)
    found = keys()["helpdesk"]
    assert (found["scopes"], found["pins"], found["owner"]) == (["decide"], ["agent=coder"], "ada")
    assert (found["owner_active"], found["flags"]) == (True, ["never"])


@pytest.mark.parametrize(
    ("changed", "flags"),
    [
        ({"last_used_at": timedelta()}, []),
        ({"last_used_at": timedelta(days=-40)}, ["not_in_period"]),
        ({"expires_at": None}, ["no_end", "never"]),
        ({"expires_at": timedelta(hours=-1)}, ["expired"]),
        ({"revoked_at": timedelta(hours=-1)}, ["revoked"]),
        ({"scopes": ["policy:write"]}, ["broad", "never"]),
    ],
)
def test_what_deserves_a_look_about_a_key_is_said(changed, flags):
    clients.create(actor=person("ada"), values={"name": "k"})
    now = timezone.now()
    values = {
        name: now + value if isinstance(value, timedelta) else value
        for name, value in changed.items()
    }
    ApiClient.objects.update(created_at=now - timedelta(days=90), **values)
    found = {one["name"]: one for one in report("access", around_now(days=30))["keys"]}
    assert found["k"]["flags"] == flags


def test_the_owner_of_a_key_who_is_switched_off_or_deleted_is_said(db):
    owner = person("ada")
    clients.create(actor=owner, values={"name": "k"})
    owner.user.is_active = False
    owner.user.save()
    assert (keys()["k"]["owner_active"], keys()["k"]["flags"]) == (False, ["owner_gone", "never"])
    owner.user.delete()
    assert (keys()["k"]["owner_active"], keys()["k"]["owner"]) == (None, "ada")


def test_keys_that_ended_before_the_period_are_left_out(db):
    client, _ = clients.create(actor=SYSTEM, values={"name": "k"})
    clients.revoke(actor=SYSTEM, client=client.pk)
    past = timezone.now() - timedelta(days=9)
    ApiClient.objects.update(created_at=past - timedelta(days=9), revoked_at=past)
    assert keys() == {}


def test_agents_stand_with_what_they_may_call(db):
    imported(named("calc", "mail", "run"))
    make_live(
        [
            strict({"effect": "require_approval", "match": {"name": "mail"}}),
            strict(
                {"effect": "deny", "match": {"name": "run"}},
                name="coders",
                scope="agent",
                target="coder",
            ),
        ]
    )
    decide("calc", context={"agent": "clerk"})
    found = report("access")
    assert (found["policy_version"], found["tools"]) == (1, 3)
    told = [
        (one["agent"], one["allow"], one["needs_approval"], one["deny"]) for one in found["agents"]
    ]
    assert told == [("clerk", 2, 1, 0), ("coder", 1, 1, 1), ("", 2, 1, 0)]
    assert found["agents"][1]["tools"] == ["box/calc", "box/mail"]


def test_tools_that_may_be_called_need_approval_or_depend_are_named_apart(db):
    imported(named("calc", "mail", "run", "save"))
    rules = (
        {"effect": "require_approval", "match": {"name": "mail"}},
        {"effect": "deny", "match": {"name": "run"}},
        {
            "effect": "deny",
            "match": {"name": "save", "arg": {"pointer": "/path", "value": "/etc/*"}},
        },
    )
    make_live([strict(*rules)])
    [nobody] = report("access")["agents"]
    assert nobody["allowed_tools"] == ["box/calc", "box/save"]
    assert nobody["approval_tools"] == ["box/mail"]
    assert nobody["depending_tools"] == ["box/save"]
    for count, names in (
        ("allow", "allowed_tools"),
        ("needs_approval", "approval_tools"),
        ("depends", "depending_tools"),
    ):
        assert nobody[count] == len(nobody[names])


def test_a_table_names_every_tool_in_a_column_of_its_answer(db):
    imported(named(*(f"t{number:02}" for number in range(30)), "mail"))
    make_live([strict({"effect": "require_approval", "match": {"name": "mail"}})])
    taken = export(actor=SYSTEM, name=ReportName.ACCESS, period=around_now(), form="csv")
    rows = list(csv.reader(io.StringIO(taken.file.read().decode(), newline="")))
    headings, agent = (row for row in rows if row[0] == "agents")
    told = dict(zip(headings, agent, strict=True))
    assert told["Tools it may call"].split("; ") == [f"box/t{number:02}" for number in range(30)]
    assert told["Tools that need approval"] == "box/mail"
    assert told["Tools that depend on arguments"] == ""


def test_counts_that_overlap_are_said_to(db):
    agents = access(around_now(), now=timezone.now()).sections[-1]
    assert "those that depend on arguments are counted among them" in str(agents.source)


def test_without_a_policy_there_are_people_and_keys_and_no_agents(db):
    person("ada")
    found = report("access")
    assert (found["policy_version"], found["agents"]) == (None, [])
    assert [one["name"] for one in found["people"]] == ["ada"]


def read_whole():
    for section in access(around_now(), now=timezone.now()).sections:
        list(section.rows())


def test_the_number_of_queries_is_fixed(db):
    make_live([strict()])
    counts = []
    for number in range(2):
        person(f"p{number}", "author")
        clients.create(actor=SYSTEM, values={"name": f"k{number}"})
        imported(named(f"t{number}"), family=f"f{number}")
        read_whole()  # so that caches are filled
        with CaptureQueriesContext(connection) as asked:
            read_whole()
        counts.append(len(asked))
    assert counts == [7, 7]


def test_every_flag_has_words(db):
    person("ada", "author", "publisher", superuser=True)
    clients.create(actor=SYSTEM, values={"name": "k", "expires_at": None})
    found = report("access")
    assert {flag for one in (*found["people"], *found["keys"]) for flag in one["flags"]} <= set(
        WORDS
    )
