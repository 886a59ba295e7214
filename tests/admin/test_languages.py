"""What of the admin is the same in every language: records, files, numbers, times, drawings."""

import json
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.test import Client, override_settings
from django.utils import formats, translation

from tests.admin import pseudo
from tests.admin.pages import PASSWORD, address, decide, staff, superuser
from tests.admin.pseudo import LANGUAGE, OPEN
from tests.admin.test_layer_transfer import document, paste
from tests.admin.test_registry import paste as paste_tools
from tests.factories import SYSTEM
from tests.registry.samples import imported, named
from toolpolicy.admin import charts, marks, matrix_cells
from toolpolicy.models import Layer, PolicyVersion, Record, Rule, Tool
from toolpolicy.services import policies
from toolpolicy.services.evidence.reports import ReportFormat, ReportName

OTHERS = [language for language, _ in settings.LANGUAGES if language != settings.LANGUAGE_CODE]
LAYER = {
    "name": "house",
    "scope": "config",
    "combining": "deny_overrides",
    "default": "deny",
    "fail_safe": "on",
    "enabled": "on",
}
FREEZE = {"kind": "agent", "value": "coder", "reason": "a loop", "until": ""}
PERSON = {"username": "sam", "password1": PASSWORD, "password2": PASSWORD}
FAMILY = {"name": "crm", "kind": "connector", "prefix": "", "trusted": "on", "description": ""}


@pytest.fixture
def reader(db, monkeypatch):
    """Somebody who may do everything and reads the language in brackets."""
    pseudo.install(monkeypatch)
    policies.install_baseline(actor=SYSTEM)
    client = Client(headers={"accept-language": LANGUAGE})
    client.force_login(superuser())
    return client


def do_everything(client):
    """Write something of each kind by the pages, and be refused in some ways."""
    client.post("/admin/login/", {"username": "nobody", "password": "wrong"})
    client.post(address("layer", "add"), LAYER)
    layer = Layer.objects.get(name="house")
    said = json.dumps({"effect": "deny", "match": {"name": "rm"}})
    rule = {"shown_as": "json", "json": said, "_save": "1"}
    client.post(f"{address('rule', 'add')}?layer={layer.pk}", rule)
    row = Rule.objects.get(layer=layer)
    layer.refresh_from_db()
    act = {"disable": row.pk, "version": layer.version}
    client.post(address("layer", "rule_act", layer.pk), act)
    for stale in (1, Layer.objects.get(pk=layer.pk).version):
        changed = {**LAYER, "observe": "on", "seen_version": stale}
        client.post(address("layer", "change", layer.pk), changed)
    for model, sent in (("freeze", FREEZE), ("user", PERSON), ("toolfamily", FAMILY)):
        client.post(address(model, "add"), sent)
    client.post(address("apiclient", "add"), {"name": "helpdesk", "scopes": ["decide"]})
    for page, uploaded in (
        (address("layer", "import"), paste(document(("new",)), mode="add")),
        (address("tool", "import"), paste_tools(named("read"))),
    ):
        held = client.post(page, uploaded).context["form"]["held"].value()
        client.post(page, {"held": held})
    client.post(address("tool"), {"action": "retire", "_selected_action": Tool.objects.get().pk})
    client.post("/admin/simulator/", {"tool": "read", "surface": "call", "act": "simulate"})


def test_what_pages_write_and_record_is_english(reader):
    do_everything(reader)
    kinds = set(Record.objects.values_list("kind", flat=True))
    assert kinds >= {"change", "freeze", "key", "import", "sign_in", "simulation", "permission"}
    texts = [record.body.text for record in Record.objects.select_related("body")]
    rows = [*Record.objects.values_list(), *PolicyVersion.objects.values_list()]
    logged = LogEntry.objects.values_list("object_repr", "change_message")
    assert OPEN not in json.dumps([texts, rows, list(logged)], default=str, ensure_ascii=False)


def test_files_are_english(reader):
    imported(named("read"), family="box")
    decide("read", context={"agent": "coder"})
    reports = [f"/admin/reports/{name}/{form}/" for name in ReportName for form in ReportFormat]
    policy = f"{address('layer', 'export')}?format=yaml"
    for path in ("/admin/matrix/csv/", policy, *reports):
        response = reader.get(path)
        assert response["Content-Disposition"].startswith("attachment")
        text = b"".join(response) if response.streaming else response.content
        assert len(text) > 20
        assert OPEN.encode() not in text, path


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", sorted(formats.FORMAT_SETTINGS))
def test_times_and_numbers_are_written_and_read_as_in_english(language, name):
    with translation.override(language):
        assert formats.get_format(name, language) == formats.get_format(name, "en")
        assert formats.localize(1234.5) == "1234.5"


def drawn():
    """Return everything that is drawn from numbers, and numbers themselves."""
    hours = [(datetime(2026, 1, 1) + timedelta(hours=n), n * 997) for n in range(24)]  # noqa: DTZ001
    return [
        charts.strip(hours, label="", tone="deny"),
        charts.sparkline((1, 2, 3, 500, 1000, 0, 7)).partition("<path")[2],
        marks.level("Dangerous"),
        marks.number(1234567),
        marks.moment(hours[5][0].astimezone()),
        matrix_cells._group("box", 1200),
    ]


@override_settings(FORMAT_MODULE_PATH=None)
def test_no_drawing_and_no_number_follows_the_formats_of_a_language():
    formats.reset_format_cache()
    english = drawn()
    with translation.override("de"):
        assert formats.localize(1.5) == "1,5"  # Django's own German
        assert drawn() == english
    formats.reset_format_cache()


@pytest.mark.parametrize("language", [settings.LANGUAGE_CODE, *OTHERS])
@pytest.mark.django_db
def test_a_page_says_which_language_it_is_in(language):
    client = Client(headers={"accept-language": language})
    client.force_login(staff())
    for path in ("/admin/", "/admin/login/?next=/admin/", "/admin/nowhere/"):
        response = client.get(path)
        assert f'<html lang="{language}"' in response.text or response.status_code == 302
        assert response["Content-Language"] == language


@pytest.mark.parametrize("asked", ["xx", "fr-CA", "*", "de;q=nonsense", "\x00"])
@pytest.mark.django_db
def test_a_language_without_a_catalogue_is_english(asked):
    response = Client(headers={"accept-language": asked}).get("/admin/login/")
    assert '<html lang="en"' in response.text
