"""API keys in the admin: shown once, never edited, revoked for good."""

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from tests.admin.pages import address, errors, signed_in, staff, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.store.keys import create, store
from toolpolicy.models import ApiClient, Record
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import clients
from toolpolicy.services.first_question import python_lines

pytestmark = pytest.mark.django_db

NEW = {"name": "helpdesk-prod", "scopes": ["decide", "explain"], "pinned_context": "", "_save": "1"}
KEY = re.compile(r"tp_live_[a-z0-9]{8}_[A-Za-z0-9]{40}_[0-9a-f]{6}")


def made(name: str = "helpdesk-prod") -> ApiClient:
    return clients.create(actor=SYSTEM, values={"name": name})[0]


def test_the_key_is_shown_once_with_a_line_to_try_it(root):
    page = text_of(root.post(address("apiclient", "add"), NEW, follow=True))
    shown = KEY.findall(page)
    assert len(set(shown)) == 1
    assert len(shown) == 3  # the key, and the key in what to paste
    assert "curl -s http://testserver/api/v1/decisions/" in page
    client = ApiClient.objects.get()
    assert clients.authenticate(key=shown[0]) == client
    assert client.owner_label == "root"


def test_each_scope_is_shown_in_words_and_by_its_name(root):
    page = text_of(root.get(address("apiclient", "add")))
    for scope in KeyScope:
        assert f'{scope.label} <code translate="no">{scope.value}</code>' in page


def test_no_later_page_has_the_key_or_its_hash(root):
    page = text_of(root.post(address("apiclient", "add"), NEW, follow=True))
    key = KEY.findall(page)[0]
    client = ApiClient.objects.get()
    for where in (address("apiclient"), address("apiclient", "change", client.pk)):
        later = text_of(root.get(where))
        assert key.split("_")[3] not in later
        assert client.secret_hash not in later
    assert not any(key in record.body.text for record in Record.objects.all())


def test_the_page_with_the_key_is_not_kept_by_the_browser(root):
    response = root.post(address("apiclient", "add"), NEW, follow=True)
    assert "no-store" in response["Cache-Control"]


def test_loading_the_page_with_the_key_again_makes_no_second_key_and_shows_none(root):
    shown = root.post(address("apiclient", "add"), NEW, follow=True)
    page = shown.request["PATH_INFO"]
    assert page == address("apiclient", "key", ApiClient.objects.get().pk)
    again = root.get(page, follow=True)
    assert again.request["PATH_INFO"] == address("apiclient", "change", ApiClient.objects.get().pk)
    assert not KEY.search(text_of(again))
    assert "A key is shown once" in text_of(again)
    assert ApiClient.objects.count() == 1


def test_the_key_travels_in_a_cookie_for_its_page_that_no_script_reads(root):
    response = root.post(address("apiclient", "add"), NEW)
    cookie = response.cookies["toolpolicy_key"]
    assert cookie["path"] == response["Location"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Strict", 60)
    session = Session.objects.get().get_decoded()
    assert not KEY.search(str(session))
    gone = root.get(response["Location"]).cookies["toolpolicy_key"]
    assert (gone.value, gone["max-age"], gone["path"]) == ("", 0, response["Location"])


@pytest.mark.parametrize("cookie", ["tp_live_x", "tp_live_x:1abc:signature", ""])
def test_a_key_that_somebody_else_put_into_the_cookie_is_not_shown(root, cookie):
    root.cookies["toolpolicy_key"] = cookie
    page = root.get(address("apiclient", "key", made().pk))
    assert page["Location"] == address("apiclient", "change", ApiClient.objects.get().pk)


@pytest.mark.django_db(transaction=True)
def test_the_python_lines_ask_and_obey(root, live_server, baseline, capsys):
    key = clients.create(actor=SYSTEM, values={"name": "helpdesk-prod"})[1]
    exec(python_lines(key, server=live_server.url), {})  # noqa: S102  (what a newcomer pastes)
    assert capsys.readouterr().out == "run the tool\n"
    make_rule(make_layer(), match={"name": "mcp__github__*"}, reason="not today")
    exec(python_lines(key, server=live_server.url), {})  # noqa: S102
    assert "do not run it:" in capsys.readouterr().out
    exec(python_lines(f"{key[:-1]}x", server=live_server.url), {})  # noqa: S102
    assert "do not run it: HTTP Error 401" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("left", "said"),
    [(timedelta(days=60), "works"), (timedelta(days=3), "ends soon"), (None, "works")],
)
def test_the_list_says_which_keys_end_soon(root, left, said):
    end = timezone.now() + left if left else None
    clients.create(actor=SYSTEM, values={"name": "bot", "expires_at": end})
    assert f">{said}</span>" in re.sub(
        r"<svg.*?</svg>", "", text_of(root.get(address("apiclient")))
    )


def test_a_key_ends_by_default_at_a_day_or_never_if_asked(root):
    root.post(address("apiclient", "add"), NEW)
    root.post(address("apiclient", "add"), {**NEW, "expires_at": "2090-01-01T00:00:00"})
    root.post(address("apiclient", "add"), {**NEW, "unending": "on"})
    default, dated, unending = ApiClient.objects.order_by("pk")
    assert default.expires_at is not None
    assert (default.expires_at - default.created_at).days == 90
    assert dated.expires_at is not None
    assert dated.expires_at.year == 2090
    assert unending.expires_at is None


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": ""}, "name", "required"),
        ({"pinned_context": '{"agent": 1}'}, "pinned_context", "(at /agent)"),
        ({"pinned_context": '{"sandbox_mode": "x"}'}, "pinned_context", "is not one of"),
        ({"expires_at": "2000-01-01T00:00"}, "expires_at", "in the future"),
        ({"expires_at": "2090-01-01T00:00", "unending": "on"}, "unending", "Choose one"),
        ({"scopes": ["everything"]}, "scopes", "valid choice"),
    ],
)
def test_a_fault_stands_on_its_field_and_makes_no_key(root, changes, field, words):
    response = root.post(address("apiclient", "add"), {**NEW, **changes})
    assert list(errors(response)) == [field]
    assert words in errors(response)[field][0]
    assert not ApiClient.objects.exists()


def test_an_operator_is_offered_and_gives_only_what_operators_may_do():
    operator = signed_in(staff("olga", groups=("operator",)))
    field = operator.get(address("apiclient", "add")).context["adminform"].form.fields["scopes"]
    offered = {value for value, _ in field.choices}
    assert offered == {"decide", "registry:write", "clients:write", "freezes:write"}
    assert field.help_text == "A key can be given only what you may do yourself."
    refused = operator.post(
        address("apiclient", "add"), {**NEW, "scopes": ["decide", "audit:read"]}
    )
    assert list(errors(refused)) == ["scopes"]
    assert not ApiClient.objects.exists()
    operator.post(address("apiclient", "add"), {**NEW, "scopes": sorted(offered)})
    assert ApiClient.objects.get().scopes == sorted(offered)


def test_a_superuser_is_offered_every_scope(root):
    field = root.get(address("apiclient", "add")).context["adminform"].form.fields["scopes"]
    assert [value for value, _ in field.choices] == KeyScope.values
    assert field.help_text == ""


def test_a_key_cannot_be_edited(root):
    client = made()
    page = address("apiclient", "change", client.pk)
    assert root.post(page, {"name": "other", "_save": "1"}).status_code == 403
    assert not root.get(page).context["adminform"].form.fields


def test_revoking_asks_first_and_then_ends_the_keys(root):
    one, two, other = made("one"), made("two"), made("other")
    chosen = {"action": "revoke", "_selected_action": [one.pk, two.pk]}
    asked = text_of(root.post(address("apiclient"), chosen))
    assert "Revoke these keys for good?" in asked
    assert not ApiClient.objects.filter(revoked_at__isnull=False).exists()
    root.post(address("apiclient"), {**chosen, "sure": "yes"})
    revoked = ApiClient.objects.filter(revoked_at__isnull=False)
    assert set(revoked) == {one, two}
    assert other.revoked_at is None
    assert "revoked" in text_of(root.get(address("apiclient", "change", one.pk)))


def test_the_list_tells_keys_that_work_from_others(root):
    clients.revoke(actor=SYSTEM, client=made("gone").pk)
    made("here")
    assert "gone" not in text_of(root.get(address("apiclient"), {"revoked": "no"}))
    page = text_of(root.get(address("apiclient"), {"revoked": "yes"}))
    assert "gone" in page
    assert ">here<" not in page


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps times alone")
def test_the_admin_shows_an_end_and_a_revocation_that_cannot_be_read(root):
    client, _ = create(expires_at=None)
    pages = (address("apiclient", "changelist"), address("apiclient", "change", client.pk))
    assert all("never" in text_of(root.get(page)) for page in pages)
    store("expires_at", "garbage")
    for page in pages:
        said = text_of(root.get(page))
        assert "expired" in said
        assert "cannot be read" in said
    store("revoked_at", "garbage")
    for page in pages:
        said = text_of(root.get(page))
        assert "revoked" in said
        assert said.count("cannot be read") == 2
