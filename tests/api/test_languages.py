"""The API speaks English, whatever language is asked for and whoever was served before."""

import re

import pytest
from django.test import Client
from django.utils import translation

from tests.admin import pseudo
from tests.admin.pseudo import LANGUAGE, OPEN
from toolpolicy.models import Layer, Record

pytestmark = pytest.mark.django_db
# What is another one each time.
ONCE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z|sha256:\w{64}|cl_\w+"
)
LONG = "x" * 300
REQUESTS = {
    "an answer": ("POST", "decisions/", {"surface": "call", "tool": "mail_send"}),
    "an explained answer": (
        "POST",
        "explain/",
        {"surface": "call", "tool": "mail_send", "context": {"agent": "coder"}},
    ),
    "no JSON": ("POST", "layers/", b"{"),
    "Django's own field errors": ("POST", "clients/", {"name": LONG, "scopes": ["decide"]}),
    "its unique constraints": ("POST", "layers/", {"scope": "config", "policy": {"name": ""}}),
    "a filter's errors": ("GET", "records/?policy_version=x&kind=nothing&since=yesterday", None),
    "a number out of range": ("GET", "layers/?page_size=0", None),
    "no such address": ("GET", "no/such/address/", None),
    "no such row": ("GET", "layers/999999/", None),
    "a wrong method": ("DELETE", "decisions/", None),
    "no version": ("DELETE", "layers/{layer}/", None),
    "lint": ("GET", "policy/lint/", None),
    "the description": ("GET", f"schema/?lang={LANGUAGE}", None),
    "what codes mean": ("GET", "/docs/reasons/rule_denied/", None),
    "readiness": ("GET", "/readyz", None),
}


@pytest.fixture
def bracketed(monkeypatch):
    pseudo.install(monkeypatch)


@pytest.mark.parametrize("name", REQUESTS)
def test_an_answer_is_the_same_in_every_language(api, bracketed, name):
    method, path, data = REQUESTS[name]
    path = path.format(layer=Layer.objects.earliest("pk").pk)
    asked = {"Accept_Language": f"{LANGUAGE}, {LANGUAGE}-AT;q=0.9"}
    plain = api.send(method, path, data)
    # A thread that served somebody else's page in another language serves this request next.
    assert OPEN in Client(headers={"accept-language": LANGUAGE}).get("/admin/login/").text
    other = api.send(method, path, data, **asked)
    assert other.status_code == plain.status_code
    assert OPEN not in other.text
    assert ONCE.sub("", other.text) == ONCE.sub("", plain.text)
    headers = ("Content-Language", "Vary", "Content-Type")
    assert [other.get(one) for one in headers] == [plain.get(one) for one in headers]


def test_what_the_api_records_is_english(api, bracketed):
    for method, path, data in REQUESTS.values():
        place = path.format(layer=Layer.objects.earliest("pk").pk)
        api.send(method, place, data, Accept_Language=LANGUAGE)
    texts = [record.body.text for record in Record.objects.select_related("body")]
    assert len(texts) > 3
    assert not any(OPEN in text for text in texts)


@pytest.fixture(autouse=True)
def _as_before():
    before = translation.get_language()
    yield
    translation.activate(before)
