"""Who only audits: the group `audit reader` has the log's pages, and no others lead anywhere."""

import re
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.test import Client
from django.urls import reverse

from tests.admin.pages import PASSWORD, address, signed_in, staff, text_of
from tests.audit.logs import sealed_log
from tests.factories import make_user
from toolpolicy.models import Record

pytestmark = pytest.mark.django_db
HOME, TAKE = reverse("admin:toolpolicy_audit"), reverse("admin:toolpolicy_audit_take")
MIGRATION = import_module("toolpolicy.migrations.0020_audit_readers")


def reader(name: str = "rita", *more: str) -> Any:
    found = staff(name, groups=("audit reader",))
    found.user_permissions.set(Permission.objects.filter(codename__in=more))
    return found


def given(answer: HttpResponseBase) -> bytes:
    assert isinstance(answer, StreamingHttpResponse), answer.status_code
    return answer.getvalue()


def navigation(page: str) -> set[str]:
    """Return what the menu offers."""
    [menu] = re.findall(r'<details class="tp-nav">(.*?)</details>', page, re.DOTALL)
    return {path for path in re.findall(r'href="([^"]+)"', menu) if path != "/admin/"}


def test_signing_in_leads_to_the_audit_page():
    user = reader()
    user.set_password(PASSWORD)
    user.save()
    sent = {"username": "rita", "password": PASSWORD}
    answer = Client().post(reverse("admin:login"), sent, follow=True)
    assert answer.redirect_chain[-1] == (HOME, 302)
    assert "<h1>Audit</h1>" in text_of(answer)


def test_the_navigation_has_records_audit_and_reports_and_nothing_else():
    wanted = {HOME, reverse("admin:toolpolicy_reports"), address("record")}
    assert navigation(text_of(signed_in(reader()).get(HOME))) == wanted


@pytest.mark.parametrize(
    ("held", "landing"),
    [
        ({"groups": ("audit reader",)}, HOME),
        ({"permissions": ("view_record", "read_reports", "view_recordbody")}, HOME),
        ({"permissions": ("read_reports",)}, HOME),
        ({"permissions": ("read_reports", "view_layer")}, ""),
        ({"permissions": ("view_record",)}, ""),
        ({"groups": ("auditor",)}, ""),
        ({"groups": ("audit reader", "author")}, ""),
    ],
)
def test_the_audit_page_is_the_home_of_those_only_who_may_open_nothing_else(held, landing):
    answer = signed_in(staff("ada", **held)).get(reverse("admin:index"))
    assert answer.headers.get("Location", "") == landing


def test_without_the_right_to_payloads_a_table_is_offered_and_no_bundle_is_given():
    sealed_log(2)
    client = signed_in(reader())
    page = text_of(client.get(HOME))
    assert re.findall(r'<option value="((?:jsonl|csv)[^"]*)"', page) == ["csv"]
    assert 'name="complete"' not in page
    assert "it takes the right to read that" in page
    # Its heading, the records, and the one that says that they are taken.
    assert given(client.post(TAKE, {"form": "csv"})).count(b"\r\n") == 4
    for form in ("jsonl", "jsonl.gz"):
        before = Record.objects.count()
        assert "Select a valid choice" in text_of(client.post(TAKE, {"form": form}))
        assert Record.objects.count() == before


def test_the_right_to_payloads_beside_the_group_gives_bundles_too():
    sealed_log(2)
    client = signed_in(reader("rita", "view_recordbody"))
    assert re.findall(r'<option value="(jsonl|csv)"', text_of(client.get(HOME))) == ["jsonl", "csv"]
    assert given(client.post(TAKE, {"form": "jsonl"}))


def test_who_may_not_view_records_is_offered_no_evidence():
    sealed_log(1)
    client = signed_in(staff("ada", permissions=("read_reports",)))
    page = text_of(client.get(HOME))
    assert f'action="{TAKE}"' not in page
    assert "It takes the right to view records." in page


def migrated(step: Any) -> None:
    step(apps, SimpleNamespace(connection=connection))


def test_the_group_goes_and_comes_with_its_migration():
    migrated(MIGRATION.unmake)
    assert not Group.objects.filter(name="audit reader").exists()
    migrated(MIGRATION.make)
    held = Group.objects.get(name="audit reader").permissions.values_list("codename", flat=True)
    assert set(held) == {"view_record", "read_reports"}


def test_a_group_of_that_name_that_somebody_made_stays_as_it_is():
    theirs = Group.objects.get(name="audit reader")
    theirs.permissions.set(Permission.objects.filter(codename="view_freeze"))
    ada = make_user("ada", groups=("audit reader",))
    for step in (MIGRATION.make, MIGRATION.unmake, MIGRATION.make):
        migrated(step)
    assert ada.get_all_permissions() == {"toolpolicy.view_freeze"}
