"""The registry in the admin: families, tools, imports in two steps."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.admin.pages import address, errors, form_values, text_of
from tests.factories import SYSTEM
from tests.registry.samples import imported, named, tickets
from toolpolicy.models import Record, Tool, ToolFamily
from toolpolicy.models.choices import RecordKind, ToolState
from toolpolicy.services import registry

pytestmark = pytest.mark.django_db

PLACE = {"format": "mcp", "family": "box", "name_prefix": ""}
FAMILY = {"name": "crm", "kind": "connector", "prefix": "", "trusted": "on", "description": ""}


def upload(document: object, **place: str) -> dict[str, object]:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    file = SimpleUploadedFile("tools.json", text, content_type="application/json")
    return {"file": file, **PLACE, **place}


def paste(document: object, **place: str) -> dict[str, object]:
    text = document if isinstance(document, str) else json.dumps(document)
    return {"text": text, **PLACE, **place}


def confirm(page) -> dict[str, str]:
    """Return what the second step's form sends."""
    form = page.context["form"]
    return {"held": form["held"].value()}


# --- imports -------------------------------------------------------------------------------------


def test_an_import_shows_what_would_change_and_then_does_it(root):
    page = root.post(address("tool", "import"), upload(named("read", "write")))
    shown = text_of(page)
    assert "2 added, 0 changed, 0 unchanged, 0 no longer offered" in shown
    assert "Nothing is imported yet" in shown
    assert not Tool.objects.exists()
    done = root.post(address("tool", "import"), confirm(page))
    family = ToolFamily.objects.get()
    assert done["Location"] == f"{address('tool')}?family__id__exact={family.pk}"
    assert set(Tool.objects.values_list("name", flat=True)) == {"read", "write"}
    record = Record.objects.get(kind=RecordKind.IMPORT)
    assert record.actor_label == "root"


def test_a_real_list_is_imported_with_its_prefix(root):
    sent = upload(tickets(), family="tickets", name_prefix="mcp__tickets__")
    page = root.post(address("tool", "import"), sent)
    root.post(address("tool", "import"), confirm(page))
    names = Tool.objects.values_list("name", flat=True)
    assert names
    assert all(name.startswith("mcp__tickets__") for name in names)


def test_a_second_import_says_what_changed_and_what_is_gone(root):
    imported(named("read", "write"), family="box")
    changed = {"tools": [{"name": "read", "description": "now with words", "inputSchema": {}}]}
    page = text_of(root.post(address("tool", "import"), upload(changed)))
    assert "0 added, 1 changed, 0 unchanged, 1 no longer offered" in page
    assert "asks for approval until it is reviewed" in page


@pytest.mark.parametrize(
    ("document", "place", "field", "words"),
    [
        (b"{", {}, "file", "Not JSON"),
        (b"\xff", {}, "file", "no UTF-8"),
        (b'{"tools": [], "tools": []}', {}, "file", "stands twice (at /tools)"),
        (
            {"tools": [{"name": 1}]},
            {},
            "file",
            "Expected a string, found an integer (at /tools/0/name)",
        ),
        ({}, {}, "file", "needs `tools`"),
        ({"tools": []}, {"family": "not/a name"}, "family", "no family name"),
        ({"tools": []}, {"name_prefix": "a b"}, "name_prefix", "no prefix"),
        ({"tools": []}, {"family": ""}, "family", "required"),
    ],
)
def test_a_fault_stands_on_its_field_and_nothing_is_imported(root, document, place, field, words):
    response = root.post(address("tool", "import"), upload(document, **place))
    text_of(response)
    found = response.context["form"].errors
    assert list(found) == [field]
    assert words in found[field][0]
    assert not ToolFamily.objects.exists()


def test_the_second_step_is_judged_by_the_registry_as_it_is_then(root):
    page = root.post(address("tool", "import"), upload(named("read")))
    imported(named("READ"), family="other")
    response = root.post(address("tool", "import"), confirm(page), follow=True)
    assert b"by case only" in response.content
    assert Tool.objects.get().family.name == "other"


# --- families and tools --------------------------------------------------------------------------


def test_a_family_is_made_and_changed_through_the_service(root):
    root.post(address("toolfamily", "add"), {**FAMILY, "_save": "1"})
    family = ToolFamily.objects.get()
    page = root.get(address("toolfamily", "change", family.pk))
    sent = form_values(page, trusted=None, _save="1")
    assert root.post(address("toolfamily", "change", family.pk), sent).status_code == 302
    family.refresh_from_db()
    assert not family.trusted
    labels = Record.objects.filter(kind=RecordKind.CHANGE).values_list("object_label", flat=True)
    assert list(labels) == ["crm", "crm"]


@pytest.mark.parametrize(
    ("changes", "field"), [({"name": "a b"}, "name"), ({"prefix": "a b"}, "prefix")]
)
def test_a_fault_of_a_family_stands_on_its_field(root, changes, field):
    response = root.post(address("toolfamily", "add"), {**FAMILY, **changes})
    assert list(errors(response)) == [field]


def test_a_tool_is_declared_by_hand(root):
    registry.create_family(actor=SYSTEM, values={"name": "crm", "kind": "connector"})
    family = ToolFamily.objects.get()
    document = '{"name": "refund", "title": "Refund", "hints": {"destructive": true}}'
    sent = {"family": family.pk, "document": document, "overrides": '{"tags": ["money"]}'}
    response = root.post(address("tool", "add"), {**sent, "_save": "1"})
    tool = Tool.objects.get()
    assert response["Location"] == address("tool", "change", tool.pk)
    assert (tool.name, tool.overrides) == ("refund", {"tags": ["money"]})


def test_a_name_that_looks_like_another_is_warned_of_when_it_is_saved(root):
    imported(named("create_issue"), family="github")
    registry.create_family(actor=SYSTEM, values={"name": "crm", "kind": "connector"})
    sent = {"family": ToolFamily.objects.get(name="crm").pk, "document": '{"name": "create-issue"}'}
    response = root.post(address("tool", "add"), {**sent, "_save": "1"}, follow=True)
    warning = "Warning: `crm/create-issue` looks like `github/create_issue`"
    assert warning in text_of(response)
    page = address("tool", "change", Tool.objects.get(family__name="crm").pk)
    sent = form_values(root.get(page), overrides='{"verb": "get"}', _save="1")
    assert warning in text_of(root.post(page, sent, follow=True))


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"document": '{"name": "a b"}'}, "document", "no tool name"),
        ({"document": '{"name": "x", "hints": {"x": true}}'}, "document", "(at /hints/x)"),
        ({"overrides": '{"permission": "Root"}'}, "overrides", "(at /permission)"),
        ({"dispatcher": "{}"}, "dispatcher", "needs a `target`"),
        ({"privilege": "[]"}, "privilege", "says nothing"),
    ],
)
def test_a_fault_of_a_tool_stands_on_its_field(root, changes, field, words):
    registry.create_family(actor=SYSTEM, values={"name": "crm", "kind": "connector"})
    sent = {"family": ToolFamily.objects.get().pk, "document": '{"name": "refund"}', **changes}
    response = root.post(address("tool", "add"), sent)
    assert list(errors(response)) == [field]
    assert words in errors(response)[field][0]


def test_what_is_laid_over_a_tool_is_changed_and_faults_keep_the_text(root):
    imported(named("read"))
    tool = Tool.objects.get()
    page = address("tool", "change", tool.pk)
    wrong = '{"permission": "Root"}'
    response = root.post(page, form_values(root.get(page), overrides=wrong, _save="1"))
    assert list(errors(response)) == ["overrides"]
    assert response.context["adminform"].form["overrides"].value() == wrong
    right = '{"permission": "Dangerous"}'
    assert root.post(page, form_values(response, overrides=right, _save="1")).status_code == 302
    tool.refresh_from_db()
    assert tool.overrides == {"permission": "Dangerous"}
    assert "Dangerous" in text_of(root.get(address("tool")))


def test_a_tool_tells_what_it_declared_what_was_derived_and_what_was_set(root):
    imported(
        {
            "tools": [
                {
                    "name": "wipe",
                    "inputSchema": {},
                    "annotations": {"destructiveHint": True, "openWorldHint": False},
                }
            ]
        }
    )
    tool = Tool.objects.get()
    laid = {"overrides": {"hints": {"idempotent": True}}}
    registry.update_tool(actor=SYSTEM, family="box", name="wipe", version=1, laid=laid)
    page = text_of(root.get(address("tool", "change", tool.pk)))
    assert '<dd>may destroy <span class="tp-sub">declared</span></dd>' in page
    assert '<dd>needs approval <span class="tp-sub">derived</span></dd>' in page
    assert '<dd>may be repeated <span class="tp-sub">set here</span></dd>' in page
    assert '<dd>unknown <span class="tp-sub"></span></dd>' in page


def test_a_tool_shows_what_changed_since_its_review_with_nothing_unprintable(root):
    imported({"tools": [{"name": "read", "description": "Reads."}]})
    tool = Tool.objects.get()
    page = address("tool", "change", tool.pk)
    assert "It declares what was reviewed." in text_of(root.get(page))
    changed = {
        "name": "read",
        "description": "Reads <b>\u202eall.",
        "outputSchema": {"a": "x" * 500},
    }
    imported({"tools": [changed | {"annotations": {"readOnlyHint": True}}]})
    shown = text_of(root.get(page))
    assert "hint loosened" in shown
    assert "Reads &lt;b&gt;\\u202eall." in shown
    assert "<code>/description</code>" in shown
    assert '<span class="tp-sub">nothing</span>' in shown
    Tool.objects.update(reviewed=None)
    assert "Nobody ever reviewed it." in text_of(root.get(page))


def test_tools_are_put_aside_and_reviewed_through_the_service(root):
    imported(named("read", "write"))
    one, other = Tool.objects.order_by("name")

    def act(action: str) -> str:
        read = {f"read-{one.pk}": one.current_id}
        root.post(address("tool"), {"action": action, "_selected_action": [one.pk], **read})
        one.refresh_from_db()
        return one.state

    assert act("quarantine") == ToolState.QUARANTINED
    assert act("review") == ToolState.ACTIVE
    assert act("retire") == ToolState.RETIRED
    assert other.state == ToolState.ACTIVE


def test_back_from_the_preview_the_list_and_its_place_are_as_they_were_sent(root):
    text = json.dumps(named("read"))
    page = root.post(address("tool", "import"), paste(text, name_prefix="mcp__"))
    sent = {**confirm(page), "again": "1"}
    back = root.post(address("tool", "import"), sent).context["form"]
    assert back["text"].value() == text
    assert back["name_prefix"].value() == "mcp__"
    assert back["format"].value() == PLACE["format"]
