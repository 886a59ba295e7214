"""Signing in and out: every try a record, and a wait for whoever guesses."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.admin.pages import PASSWORD, address, signed_in, staff, superuser, text_of
from toolpolicy.models import Record, RefusalCount, SignInAttempt
from toolpolicy.services import refusals, sign_ins
from toolpolicy.services.actors import Origin

pytestmark = pytest.mark.django_db

WRONG = "no idea"
LOGIN = reverse("admin:login")


def try_to(name: str, password: str = WRONG, *, address: str = "192.0.2.1") -> Any:
    return Client(REMOTE_ADDR=address).post(LOGIN, {"username": name, "password": password})


def told() -> list[tuple[str, str, str]]:
    """Return the records of sign-ins: who, about which account, what."""
    found = Record.objects.filter(kind="sign_in").order_by("id").select_related("body")
    return [(r.actor_label, r.object_label, json.loads(r.body.text)["summary"]) for r in found]


@pytest.fixture
def mira(db):
    return superuser("mira")


@pytest.fixture
def strict(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, sign_in_failures=2, sign_in_minutes=10)


# --- records -------------------------------------------------------------------------------------


def test_a_sign_in_and_a_sign_out_are_records_with_the_address(mira):
    client = Client(REMOTE_ADDR="192.0.2.9")
    sent = {"username": "mira", "password": PASSWORD}
    assert client.post(LOGIN, sent)["Location"] == reverse("admin:index")
    client.post(reverse("admin:logout"))
    assert told() == [("mira", "mira", "signed in"), ("mira", "mira", "signed out")]
    body = json.loads(Record.objects.latest("id").body.text)
    assert body["origin"]["address"] == "192.0.2.9"
    assert (body["action"], body["actor"]["kind"]) == ("sign_out", "user")


def test_a_failed_sign_in_names_the_account_and_never_the_password(mira):
    assert try_to("mira", "hunter2").status_code == 200
    assert told() == [("somebody", "mira", "could not sign in as `mira`")]
    record = Record.objects.get()
    assert json.loads(record.body.text)["reason"] == "wrong_password"
    assert "hunter2" not in record.body.text


def test_a_name_that_is_nobodys_is_not_written_down():
    try_to("hunter2")  # a password in the wrong field
    assert told() == [("somebody", "", "could not sign in as a name that is nobody's")]
    stored = [*Record.objects.values(), *SignInAttempt.objects.values()]
    assert "hunter2" not in str(stored) + Record.objects.get().body.text


def test_somebody_who_may_not_use_these_pages_is_recorded_as_that(db):
    user = staff("guest")
    user.is_staff = False
    user.set_password(PASSWORD)
    user.save()
    assert try_to("guest", PASSWORD).status_code == 200
    assert json.loads(Record.objects.get().body.text)["reason"] == "no_access"


def test_a_sign_out_of_nobody_is_no_record():
    Client().post(reverse("admin:logout"))
    assert told() == []


def test_a_sign_in_whose_record_cannot_be_written_does_not_happen(mira, monkeypatch):
    def broken(**_):
        raise RuntimeError

    monkeypatch.setattr(sign_ins, "signed_in", broken)
    client = Client()
    with pytest.raises(RuntimeError):
        client.post(LOGIN, {"username": "mira", "password": PASSWORD})
    assert client.get(reverse("admin:index")).status_code == 302


def test_whoever_is_signed_in_goes_home_from_the_login_page(mira):
    assert signed_in(mira).get(LOGIN)["Location"] == reverse("admin:index")


def test_the_page_that_was_asked_for_follows_the_sign_in(mira):
    sent = {"username": "mira", "password": PASSWORD, "next": address("layer")}
    assert Client().post(LOGIN, sent)["Location"] == address("layer")


def test_sign_ins_are_listed_and_have_a_page(mira):
    try_to("mira")
    root = signed_in(mira)
    assert "somebody" in text_of(root.get(address("record"), {"kind": "sign_in"}))
    page = text_of(root.get(address("record", "change", Record.objects.get().pk)))
    assert "somebody could not sign in as `mira`" in page


# --- the wait ------------------------------------------------------------------------------------


def test_after_too_many_failures_the_right_password_waits_too(mira, strict):
    for _ in range(2):
        assert "Please enter the correct" in text_of(try_to("mira"))
    locked = try_to("mira", PASSWORD)
    assert (locked.status_code, locked["Retry-After"]) == (429, "600")
    assert "Too many sign-ins failed from where you are. Try again in 10 minutes." in (
        locked.content.decode()
    )
    assert len(told()) == 2


def test_what_comes_while_somebody_waits_is_counted_and_does_not_lengthen_it(mira, strict):
    for _ in range(5):
        try_to("mira")
    assert SignInAttempt.objects.get().count == 2
    counted = RefusalCount.objects.get()
    assert (counted.status, counted.count, counted.address) == (429, 3, "192.0.2.1")


def test_only_that_name_from_that_address_waits(mira, strict):
    for _ in range(3):
        try_to("mira")
    superuser("noor")
    assert try_to("noor", PASSWORD).status_code == 302
    assert try_to("mira", PASSWORD, address="192.0.2.2").status_code == 302


def test_an_address_that_tries_many_names_waits_with_all_of_them(mira, strict):
    for number in range(2 * sign_ins.NAMES):
        assert try_to(f"name{number}").status_code == 200
    assert try_to("mira", PASSWORD).status_code == 429


def test_the_wait_ends(mira, strict):
    for _ in range(3):
        try_to("mira")
    SignInAttempt.objects.update(minute=timezone.now() - timedelta(minutes=11))
    assert try_to("mira", PASSWORD).status_code == 302
    assert not SignInAttempt.objects.exists()


def test_a_success_forgets_the_failures_before(mira, strict):
    for _ in range(3):
        try_to("mira")
        assert try_to("mira", PASSWORD).status_code == 302


def test_one_ipv6_network_is_one_address(mira, strict):
    for number in range(2):
        try_to("mira", address=f"2001:db8::{number + 1}")
    assert try_to("mira", PASSWORD, address="2001:db8::99").status_code == 429


def test_a_flood_of_addresses_makes_few_rows_and_no_records(mira, strict, monkeypatch):
    monkeypatch.setattr(refusals, "MOST_ADDRESSES", 2)
    for number in range(2):
        try_to("mira", address=f"192.0.2.{number + 1}")
    for number in range(300):
        attempt = sign_ins.begin(name=f"x{number}", origin=Origin(address=f"198.51.100.{number}"))
        sign_ins.failed(attempt=attempt, right_password=False)
    named = {"192.0.2.1", "192.0.2.2"}
    assert set(SignInAttempt.objects.values_list("address", flat=True)) == {*named, "others"}
    # Of hex digits: no more than 16³ rows a minute for all others together.
    others = SignInAttempt.objects.exclude(address__in=named)
    assert {len(row.account) for row in others} == {3}
    assert len(told()) == 2
    # Somebody at an address that was not seen before still gets in.
    assert try_to("mira", PASSWORD, address="203.0.113.1").status_code == 302


def test_an_empty_form_is_no_try(mira):
    assert Client().post(LOGIN, {"username": "", "password": ""}).status_code == 200
    assert not SignInAttempt.objects.exists()
    assert told() == []
