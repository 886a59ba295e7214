"""Whatever stands in a text column, no page shows it raw: not as markup, not turned around.

Every text column of every model is filled with what is hostile, past all checks, and every page is
opened. A column that is added is filled too, or stands below with the reason why it cannot be.
"""

import re
from collections import Counter, deque
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import models
from django.urls import resolve
from django.utils import timezone

from tests.admin.pages import decide, signed_in, superuser
from tests.admin.test_role_matrix import (  # noqa: F401  (house is a fixture)
    ACTS,
    COMPARED,
    house,
    links,
    path_of,
    table,
)
from tests.audit.logs import triggers_lifted
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, tool
from toolpolicy.admin.visible import visible
from toolpolicy.engine import canonical
from toolpolicy.models import (
    Document,
    Layer,
    LegalHold,
    MaskedValue,
    PolicyVersion,
    Record,
    RecordBody,
    SeenContext,
    SinkState,
    Tool,
    ToolDeclaration,
    ToolFamily,
    VerificationRun,
)
from toolpolicy.models.base import WrittenOnce
from toolpolicy.services import clients

pytestmark = pytest.mark.django_db

ASKED = (MaskedValue, RecordBody, SeenContext, Tool, ToolFamily)
MARKUP, BIDI, ANSI = "<q>", "\u202e", "\x1b"
HOSTILE = f"{MARKUP}{BIDI}{ANSI}[31m\"'&</textarea></script>"
# Columns that a word or a digest stands in, and nothing else can.
KEPT = {
    "Document.digest": "the address of the text",
    "ToolDeclaration.digest": "the address of the text",
    "PolicyState.registry_digest": "decisions are judged by what it names",
    "PolicyState.settings_digest": "decisions are judged by what it names",
    "PolicyState.masking_digest": "decisions are recorded by what it names",
}
JSON: dict[str, Any] = {
    "VerificationRun.lines": [HOSTILE],
    "Layer.target": [HOSTILE],
    "Rule.surfaces": ["call"],  # checked words
    "Rule.match": {"name": [HOSTILE], "arg": {"pointer": f"/{HOSTILE}", "value": [HOSTILE]}},
    "Rule.except_match": {"family": HOSTILE},
    "Rule.when": {HOSTILE: [HOSTILE]},
    "Rule.examples": [{"tool": HOSTILE, "expect": "deny"}],
    "Rule.approval": {"title": HOSTILE},
    "Tool.dispatcher": {"target": f"/{HOSTILE}", "arguments": "/x"},
    "Tool.privilege": [{"pointer": f"/{HOSTILE}", "patterns": [HOSTILE], "level": "Dangerous"}],
    "Tool.overrides": {"tags": [HOSTILE], "group": HOSTILE},
    "Tool.masking": {"keys": [HOSTILE]},
    "ToolFamily.masking": {"pointers": [f"/{HOSTILE}"]},
    "Masking.rules": {"keys": [HOSTILE], "pointers": [f"/{HOSTILE}"]},
    "ApiClient.scopes": [HOSTILE],
    "ApiClient.pinned_context": {HOSTILE: HOSTILE},
    "LegalHold.filter": {HOSTILE: HOSTILE},
}
# What its constraints want beside.
OTHERS: dict[type[models.Model], dict[str, Any]] = {
    Layer: {"scope": "channel"},
    LegalHold: {"lifted_at": timezone.now()},
}


def columns(model: type[models.Model]) -> "list[models.Field[Any, Any]]":
    """Return the columns of a model that hold text or JSON, but no word of a fixed list."""
    return [
        field
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField | models.TextField | models.JSONField)
        and not field.choices
        and not field.is_relation
    ]


def poison(model: type[models.Model]) -> dict[str, Any]:
    """Return hostile values for the columns of one row."""
    found = {}
    for field in columns(model):
        name = f"{model.__name__}.{field.name}"
        if name in JSON:
            found[field.name] = JSON[name]
        elif name not in KEPT:
            found[field.name] = HOSTILE[: field.max_length]
    return found


def ours() -> list[type[models.Model]]:
    return [*apps.get_app_config("toolpolicy").get_models(), User, Group]


def poisoned_copy(model: type[models.Model], **values: Any) -> models.Model:
    """Add a row like the newest one, hostile in each column: written-once rows do not change."""
    newest = model._default_manager.order_by("-pk")[0]
    same = {
        field.attname: getattr(newest, field.attname)
        for field in model._meta.concrete_fields
        if not field.primary_key
    }
    return model._default_manager.create(**{**same, **poison(model), **values})


@pytest.fixture
def poisoned(house: dict[str, Any]) -> dict[str, Any]:  # noqa: F811
    make_rule(
        make_layer(HOSTILE + "2", description=HOSTILE, scope="agent", target=[HOSTILE]),
        id="hostile",
        match={"name": [HOSTILE], "family": HOSTILE},
        when={"channel": [HOSTILE]},
        reason=HOSTILE,
    )
    schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "description": HOSTILE}}}
    for text in ("", HOSTILE):
        described = tool("read", title=HOSTILE, description=HOSTILE + text, inputSchema=schema)
        imported({"tools": [described, tool("other", annotations={"title": HOSTILE})]})
    client, _ = clients.create(actor=SYSTEM, values={"name": HOSTILE})
    context = dict.fromkeys(("agent", "channel", "session", HOSTILE), HOSTILE)
    for name in ("read", "unheard_of"):
        sent = {HOSTILE: HOSTILE, f"password {HOSTILE}": HOSTILE}
        decide(name, arguments=sent, context=context)
    text = canonical.dumps({"format": HOSTILE, HOSTILE: [HOSTILE]})
    Document.objects.create(digest="sha256:x", text=text)
    declared = {"family": HOSTILE, "name": HOSTILE, "hints": {}}
    ToolDeclaration.objects.create(
        digest="sha256:x", text=canonical.dumps({"subject": declared, "title": HOSTILE})
    )
    now = timezone.now()
    VerificationRun.objects.create(started_at=now, seen_at=now, ended_at=now, full=True)
    SinkState.objects.create(name="file", failing_since=now)
    body = RecordBody.objects.order_by("-pk")[0].text
    uid = "00000000-0000-0000-0000-000000000001"
    record = poisoned_copy(Record, uid=uid, kind="decision", writer_n=10**6, client=client)
    RecordBody.objects.create(record_id=record.pk, text=body)
    poisoned_copy(PolicyVersion, number=PolicyVersion.objects.count() + 1)
    # Beside those in the live registry, which says itself what a tool is.
    poisoned_copy(Tool, family=poisoned_copy(ToolFamily))
    for model in ours():
        # Written once, or hostile already by what was asked.
        if issubclass(model, WrittenOnce) or model in ASKED:
            continue
        row = model._default_manager.order_by("pk").first()
        if row is not None and poison(model):
            values = poison(model) | OTHERS.get(model, {})
            with triggers_lifted():
                model._default_manager.filter(pk=row.pk).update(**values)
    return house


def test_every_text_column_is_filled_or_has_a_reason():
    every = {f"{model.__name__}.{field.name}" for model in ours() for field in columns(model)}
    assert set(KEPT) <= every
    json = {
        f"{model.__name__}.{field.name}"
        for model in ours()
        for field in columns(model)
        if isinstance(field, models.JSONField)
    }
    assert json == set(JSON)


def seen_by_people(page: str) -> str:
    """Return a page without what a form has to send back as it is."""
    page = re.sub(r"(<textarea[^>]*>).*?</textarea>", r"\1", page, flags=re.DOTALL)
    return re.sub(r'\s(value|href|content)="[^"]*"', "", page)


def test_no_page_shows_it_raw(poisoned):
    client = signed_in(superuser())
    waiting = deque(
        path_of(name, takes, poisoned)
        for name, (_, takes) in table().items()
        if name not in ACTS and name != COMPARED
    )
    seen, times, raw = set(), Counter[str](), []
    while waiting:
        path = waiting.popleft()
        name = resolve(urlsplit(path).path).url_name or ""
        if path in seen or times[name] >= 6 or name in ("logout", "jsi18n"):
            continue
        seen.add(path)
        times[name] += 1
        response = client.get(path, follow=True)
        if "html" not in response.get("Content-Type", ""):
            continue
        page = response.content.decode()
        assert response.status_code in (200, 403), f"{path}: {response.status_code}"
        shown = seen_by_people(page)
        for one, text in ((MARKUP, page), (BIDI, shown), (ANSI, shown)):
            if one in text:
                at = text.index(one)
                raw.append(f"{path}: {one!r} in {text[max(0, at - 120) : at + 40]!r}")
        waiting.extend(sorted(links(path, page, "href")))
    assert len(seen) > 80
    assert raw == [], "\n".join(raw)


def test_what_a_form_sends_back_and_what_scripts_read_stays_as_it_is():
    kept = f'<input value="{BIDI}"><textarea>{BIDI}</textarea><script>{BIDI}</script>'
    assert visible(f"<b>a{BIDI}\u00ad</b>\n{kept}") == f"<b>a\\u202e\\xad</b>\n{kept}"
    assert visible("<b>caf\u00e9\u2009\u00a0\t</b>") == "<b>caf\u00e9\u2009\u00a0\t</b>"
