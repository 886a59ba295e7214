"""People and groups in the admin: only superusers, and every change a record."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.urls import reverse

from tests.admin.pages import (
    PASSWORD,
    address,
    errors,
    form_values,
    signed_in,
    staff,
    superuser,
    text_of,
)
from toolpolicy.models import Record
from toolpolicy.services import accounts
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, NotFound, Refused

pytestmark = pytest.mark.django_db

NEW = {
    "username": "mira",
    "usable_password": "true",
    "password1": PASSWORD,
    "password2": PASSWORD,
    "_save": "1",
}
OTHER = "quite another phrase"


def last() -> tuple[Record, dict[str, Any]]:
    record = Record.objects.latest("id")
    return record, json.loads(record.body.text)


def test_a_person_is_added_with_access_and_a_record(root):
    response = root.post(address("user", "add"), NEW)
    mira = User.objects.get(username="mira")
    assert response["Location"] == address("user", "change", mira.pk)
    assert (mira.is_staff, mira.is_superuser, mira.check_password(PASSWORD)) == (True, False, True)
    record, body = last()
    assert (record.kind, record.actor_label, record.object_label) == ("permission", "root", "mira")
    assert body["summary"] == "added the user `mira`"
    assert PASSWORD not in record.body.text


@pytest.mark.parametrize(
    ("password", "told"), [("audit", "too short"), ("mira.okafor1", "too similar to the username")]
)
def test_a_new_persons_weak_password_is_refused_on_its_field(root, password, told):
    sent = {**NEW, "username": "mira.okafor", "password1": password, "password2": password}
    response = root.post(address("user", "add"), sent)
    assert told in errors(response)["password2"][0]
    assert not User.objects.filter(username="mira.okafor").exists()


def test_a_new_person_may_have_no_password(root):
    root.post(address("user", "add"), {**NEW, "usable_password": "false", "password1": "audit"})
    assert not User.objects.get(username="mira").has_usable_password()


def test_a_persons_groups_are_changed_and_recorded_before_and_after(root):
    mira = staff("mira", groups=("author",))
    page = address("user", "change", mira.pk)
    auditor = Group.objects.get(name="auditor")
    sent = form_values(root.get(page), groups=[auditor.pk], last_name="Okafor", _save="1")
    assert root.post(page, sent).status_code == 302
    mira.refresh_from_db()
    assert list(mira.groups.all()) == [auditor]
    assert mira.last_name == "Okafor"
    _, body = last()
    assert (body["before"]["groups"], body["after"]["groups"]) == (["author"], ["auditor"])


def test_the_baseline_permission_is_given_by_hand(root):
    mira = staff("mira", groups=("author",))
    page = address("user", "change", mira.pk)
    permission = Permission.objects.get(codename="change_baseline")
    sent = form_values(root.get(page), user_permissions=[permission.pk], _save="1")
    root.post(page, sent)
    assert User.objects.get(pk=mira.pk).has_perm("toolpolicy.change_baseline")
    _, body = last()
    assert body["after"]["permissions"] == ["toolpolicy.change_baseline"]


def test_nobody_shuts_themselves_out(root):
    me = User.objects.get(username="root")
    page = address("user", "change", me.pk)
    response = root.post(page, form_values(root.get(page), is_superuser=None, _save="1"))
    assert "own access" in errors(response)["__all__"][0]
    me.refresh_from_db()
    assert me.is_superuser


def test_a_name_that_is_taken_stands_on_its_field(root):
    staff("mira")
    response = root.post(address("user", "add"), NEW)
    assert "already exists" in errors(response)["username"][0]


def test_people_are_never_deleted(root):
    mira = staff("mira")
    assert root.post(address("user", "delete", mira.pk), {"post": "yes"}).status_code == 403
    assert "Delete" not in text_of(root.get(address("user", "change", mira.pk)))


def test_a_superuser_sets_a_password_and_switches_one_off(root):
    mira = staff("mira")
    page = reverse("admin:auth_user_password_change", args=(mira.pk,))
    sent = {"usable_password": "true", "password1": OTHER, "password2": OTHER, "set-password": "1"}
    assert root.post(page, sent).status_code == 302
    mira.refresh_from_db()
    assert mira.check_password(OTHER)
    record, body = last()
    assert body["summary"] == "changed the password of `mira`"
    assert OTHER not in record.body.text
    off = {"usable_password": "false", "password1": "", "password2": "", "unset-password": "1"}
    assert root.post(page, off).status_code == 302
    mira.refresh_from_db()
    assert not mira.has_usable_password()
    assert last()[1]["summary"] == "switched off the password of `mira`"


def test_somebody_who_is_no_superuser_sets_nobodys_password(root):
    mira = staff("mira", groups=("operator",))
    target = superuser("boss")
    page = reverse("admin:auth_user_password_change", args=(target.pk,))
    assert signed_in(mira).post(page, {"password1": OTHER, "password2": OTHER}).status_code == 403
    target.refresh_from_db()
    assert target.check_password(PASSWORD)


def test_a_weak_password_is_refused_on_both_pages_that_change_one(root):
    mira = staff("mira")
    mira.set_password(PASSWORD)
    mira.save()
    page = reverse("admin:auth_user_password_change", args=(mira.pk,))
    sent = {"usable_password": "true", "password1": "audit", "password2": "audit"}
    assert "too short" in text_of(root.post(page, {**sent, "set-password": "1"}))
    own = {"old_password": PASSWORD, "new_password1": "audit", "new_password2": "audit"}
    assert "too short" in text_of(signed_in(mira).post(reverse("admin:password_change"), own))
    mira.refresh_from_db()
    assert mira.check_password(PASSWORD)


def test_everybody_changes_their_own_password_stays_in_and_leaves_a_record():
    mira = staff("mira")
    mira.set_password(PASSWORD)
    mira.save()
    client = signed_in(mira)
    sent = {"old_password": PASSWORD, "new_password1": OTHER, "new_password2": OTHER}
    page = reverse("admin:password_change")
    assert client.post(page, sent)["Location"] == reverse("admin:password_change_done")
    mira.refresh_from_db()
    assert mira.check_password(OTHER)
    assert client.get(reverse("admin:index")).status_code == 200
    record, body = last()
    assert (record.actor_label, body["summary"]) == ("mira", "changed the password of `mira`")


def test_a_wrong_old_password_changes_nothing():
    mira = staff("mira")
    mira.set_password(PASSWORD)
    mira.save()
    sent = {"old_password": "x", "new_password1": OTHER, "new_password2": OTHER}
    assert signed_in(mira).post(reverse("admin:password_change"), sent).status_code == 200
    mira.refresh_from_db()
    assert mira.check_password(PASSWORD)
    assert not Record.objects.exists()


def test_a_group_is_added_changed_and_deleted_with_records(root):
    view = Permission.objects.get(codename="view_layer")
    root.post(address("group", "add"), {"name": "guests", "permissions": [view.pk], "_save": "1"})
    guests = Group.objects.get(name="guests")
    assert list(guests.permissions.all()) == [view]
    page = address("group", "change", guests.pk)
    root.post(page, {"name": "visitors", "permissions": [], "_save": "1"})
    _, body = last()
    assert body["before"] == {"name": "guests", "permissions": ["toolpolicy.view_layer"]}
    assert body["after"] == {"name": "visitors", "permissions": []}
    root.post(address("group", "delete", guests.pk), {"post": "yes"})
    assert not Group.objects.filter(pk=guests.pk).exists()
    assert last()[1]["summary"] == "deleted the group `visitors`"


def test_a_group_whose_name_is_taken_is_refused_on_its_field(root):
    response = root.post(address("group", "add"), {"name": "author", "permissions": []})
    assert "already exists" in errors(response)["name"][0]


# --- the service ---------------------------------------------------------------------------------


def test_only_superusers_and_the_product_manage_accounts():
    author = Actor.for_user(staff("author", groups=("author",)))
    with pytest.raises(Refused):
        accounts.save_user(actor=author, user=None, values={"username": "x"})
    with pytest.raises(Refused):
        accounts.save_group(actor=author, group=None, name="x", permissions=())
    with pytest.raises(Refused):
        accounts.delete_group(actor=author, group=1)
    with pytest.raises(Refused):
        accounts.set_password(actor=author, user=superuser().pk, password="x")
    made = accounts.save_user(
        actor=Actor.system("setup"), user=None, values={"username": "x", "password": None}
    )
    assert not made.has_usable_password()


def test_what_is_not_there_is_not_found():
    system = Actor.system("tests")
    with pytest.raises(NotFound):
        accounts.save_user(actor=system, user=99, values={})
    with pytest.raises(NotFound):
        accounts.delete_group(actor=system, group=99)


def test_a_refused_account_leaves_neither_row_nor_record():
    with pytest.raises(InvalidInput):
        accounts.save_user(actor=Actor.system("tests"), user=None, values={"username": "a b"})
    assert not User.objects.exists()
    assert not Record.objects.exists()


@pytest.mark.parametrize("password", ["", "audit", "password", "8273645109", "mira.okafor"])
def test_no_caller_goes_past_the_password_validators(password):
    system = Actor.system("tests")
    with pytest.raises(InvalidInput) as refused:
        accounts.save_user(
            actor=system, user=None, values={"username": "mira.okafor", "password": password}
        )
    assert refused.value.faults[0].pointer == "/password"
    mira = staff("mira.okafor")
    with pytest.raises(InvalidInput):
        accounts.set_password(actor=system, user=mira.pk, password=password)
    mira.refresh_from_db()
    assert not mira.has_usable_password()
    assert not Record.objects.exists()
