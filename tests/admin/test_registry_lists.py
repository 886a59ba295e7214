"""Tool lists in and out of the admin: both forms, files as large as the command takes, pasted."""

import json

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from tests.admin.pages import address, signed_in, staff, superuser, text_of
from tests.admin.test_registry import confirm, paste, upload
from tests.registry.samples import imported, named, tickets
from toolpolicy.conf import conf
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.registry import ToolFormat

pytestmark = pytest.mark.django_db

IMPORT = address("tool", "import")
SPECS = [{"name": "read_file", "read_only": True}, {"name": "wipe", "destructive": True}]
LISTS = {"mcp": tickets(), "toolspec": SPECS}


def faults(response) -> dict[str, list[str]]:
    assert response.status_code == 200
    return {name: list(found) for name, found in response.context["form"].errors.items()}


def padded(size: int) -> bytes:
    """Return a list of one tool that has so many bytes."""
    text = json.dumps(named("read")).encode()
    return text + b" " * (size - len(text))


# --- in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", LISTS)
@pytest.mark.parametrize("send", [upload, paste])
def test_both_forms_are_taken_from_a_file_and_pasted(root, form, send):
    page = root.post(IMPORT, send(LISTS[form], format=form))
    assert "Nothing is imported yet" in text_of(page)
    assert root.post(IMPORT, confirm(page)).status_code == 302
    family = ToolFamily.objects.get()
    again = registry.export_tools(family=family.name, form=ToolFormat(form))
    assert len(again["tools"]) == Tool.objects.count() > 1


@pytest.mark.parametrize(
    ("sent", "field", "words"),
    [
        (paste("{"), "text", "Not JSON"),
        (paste(named("a"), format="toolspec"), "text", "did you mean `input_schema`"),
        (paste('{"tools": [{"name": 1}]}'), "text", "(at /tools/0/name)"),
        (paste(named("a"), family="a b"), "family", "no family name"),
        (paste(named("a"), format="yaml"), "format", "Select a valid choice"),
        (paste(""), "file", "Choose a file, or paste the list."),
        (paste("  "), "file", "Choose a file, or paste the list."),
    ],
)
def test_a_fault_stands_on_the_field_that_the_list_came_from(root, sent, field, words):
    found = faults(root.post(IMPORT, sent))
    assert list(found) == [field]
    assert words.lower() in found[field][0].lower()
    assert not ToolFamily.objects.exists()


@pytest.mark.parametrize(("send", "field"), [(upload, "file"), (paste, "text")])
def test_every_fault_of_a_list_stands_on_its_field(root, send, field):
    found = faults(root.post(IMPORT, send({"tools": [{"name": 1}, {"name": 2}]})))
    assert list(found) == [field]
    assert [text.partition(" (at ")[2] for text in found[field]] == [
        "/tools/0/name)",
        "/tools/1/name)",
    ]


def test_a_file_and_a_pasted_list_at_once_are_one_too_many(root):
    sent = {**paste(named("a")), **upload(named("b"))}
    assert faults(root.post(IMPORT, sent)) == {"file": ["Either a file or pasted text, not both."]}


def test_the_page_says_how_much_it_takes(root):
    page = text_of(root.get(IMPORT)).replace("\xa0", " ")
    assert "A JSON file of up to 20.0 MB." in page
    assert "Up to 2.5 MB. A longer list needs a file." in page


def test_a_file_as_large_as_the_command_takes_is_imported(root):
    most = conf().max_import_bytes
    assert most > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    page = root.post(IMPORT, upload(padded(most)))
    assert len(page.content) < 100_000
    assert root.post(IMPORT, confirm(page)).status_code == 302
    assert Tool.objects.get().name == "read"


def test_a_file_that_is_larger_is_refused_in_the_form_and_not_held(root):
    sessions = Session.objects.count()
    found = faults(root.post(IMPORT, upload(padded(conf().max_import_bytes + 1))))
    assert found == {"file": ["The file has 20,971,521 bytes. At most 20,971,520 are read."]}
    assert Session.objects.count() == sessions


def test_what_is_pasted_beyond_a_forms_limit_is_told_so(root):
    text = "x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    response = root.post(IMPORT, paste(text))
    assert response.status_code == 400
    assert b"send a long list as a file" in response.content


def test_a_page_names_five_hundred_tools_and_counts_the_rest(root):
    page = text_of(root.post(IMPORT, upload(named(*(f"do_thing_{n}" for n in range(1700))))))
    assert "1700 added, 0 changed" in page
    assert "do_thing_499 and 1,200 more" in page
    assert len(page) < 30_000


# --- between the two steps -----------------------------------------------------------------------


def held_by(client) -> dict[str, str]:
    return confirm(client.post(IMPORT, upload(named("read"))))


def test_a_list_is_imported_once(root):
    sent = held_by(root)
    assert root.post(IMPORT, sent)["Location"].startswith(address("tool"))
    again = root.post(IMPORT, sent, follow=True)
    assert b"imported already, or it was held too long" in again.content


def test_what_somebody_holds_is_nobody_elses(root):
    other = signed_in(superuser("other"))
    other.post(IMPORT, held_by(root))
    assert not Tool.objects.exists()


def test_what_is_held_signs_nobody_in(root, client):
    client.cookies[settings.SESSION_COOKIE_NAME] = held_by(root)["held"]
    assert client.get(IMPORT).status_code == 302


@pytest.mark.parametrize("key", ["", "x", "0" * 32, "x" * 65, "\x00"])
def test_a_key_of_nothing_imports_nothing(root, key):
    response = root.post(IMPORT, {"held": key}, follow=True)
    assert b"imported already, or it was held too long" in response.content


def test_somebodys_own_session_holds_no_list(root):
    own = root.cookies[settings.SESSION_COOKIE_NAME].value
    response = root.post(IMPORT, {"held": own}, follow=True)
    assert b"held too long" in response.content
    assert root.get(IMPORT).status_code == 200


def test_a_list_that_was_held_too_long_is_gone(root):
    sent = held_by(root)
    Session.objects.filter(session_key=sent["held"]).update(expire_date=timezone.now())
    root.post(IMPORT, sent)
    assert not Tool.objects.exists()
    held_by(root)
    assert not Session.objects.filter(session_key=sent["held"]).exists()


# --- out -----------------------------------------------------------------------------------------


def export(pk: int, form: str) -> str:
    return f"{address('toolfamily', 'export', pk)}?format={form}"


@pytest.mark.parametrize("form", LISTS)
def test_a_family_is_downloaded_and_imported_again_without_a_change(root, form):
    imported(LISTS[form], prefix="b_", form=ToolFormat(form))
    family = ToolFamily.objects.get()
    link = export(family.pk, form)
    assert f'href="{link}"' in text_of(root.get(address("toolfamily", "change", family.pk)))
    file = root.get(link)
    assert (file["Content-Type"], file["Content-Disposition"]) == (
        "application/json",
        f'attachment; filename="box.{form}.json"',
    )
    assert file.json() == registry.export_tools(family="box", form=ToolFormat(form))
    page = text_of(root.post(IMPORT, upload(file.content, format=form)))
    assert f"0 added, 0 changed, {Tool.objects.count()} unchanged, 0 no longer offered" in page


@pytest.mark.parametrize("form", ["", "yaml", "MCP"])
def test_an_unknown_form_or_family_is_not_found(root, form):
    imported(named("read"))
    assert root.get(export(ToolFamily.objects.get().pk, form)).status_code == 404
    assert root.get(export(999, "mcp")).status_code == 404


def test_who_may_not_see_families_downloads_none():
    imported(named("read"))
    link = export(ToolFamily.objects.get().pk, "mcp")
    assert signed_in(staff()).get(link).status_code == 403
    reader = signed_in(staff("reader", permissions=("view_toolfamily",)))
    assert reader.get(link).status_code == 200
