"""Two people on the same tool or family: nobody overwrites what they did not see."""

import pytest

from tests.admin.pages import address, errors, form_values, signed_in, staff, text_of
from tests.factories import SYSTEM
from tests.registry.samples import imported, named, tool
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.models.choices import ToolState
from toolpolicy.services import registry

pytestmark = pytest.mark.django_db

WRITE, EXECUTE = '{"permission": "Write"}', '{"permission": "Execute"}'


@pytest.fixture
def anna():
    return signed_in(staff("anna", groups=("operator",)))


@pytest.fixture
def run():
    imported(named("run"))
    return Tool.objects.get()


def test_a_stale_save_of_a_tool_is_refused_names_the_other_and_loses_nothing(root, anna, run):
    page = address("tool", "change", run.pk)
    opened = root.get(page)
    theirs = form_values(anna.get(page), overrides=WRITE, _save="1")
    assert anna.post(page, theirs).status_code == 302

    refused = root.post(page, form_values(opened, overrides=EXECUTE, _save="1"))
    found = errors(refused)
    assert "anna changed this since you opened it" in found["__all__"][0]
    assert "Write" in found["overrides"][0]
    assert refused.context["adminform"].form["overrides"].value() == EXECUTE
    run.refresh_from_db()
    assert run.overrides == {"permission": "Write"}

    assert root.post(page, form_values(refused, _save="1")).status_code == 302
    run.refresh_from_db()
    assert run.overrides == {"permission": "Execute"}


def test_a_stale_save_of_a_family_is_refused_names_the_other_and_loses_nothing(root, anna, run):
    page = address("toolfamily", "change", run.family_id)
    opened = root.get(page)
    theirs = form_values(anna.get(page), trusted=None, _save="1")
    assert anna.post(page, theirs).status_code == 302

    refused = root.post(page, form_values(opened, description="Mine.", _save="1"))
    found = errors(refused)
    assert "anna changed this since you opened it" in found["__all__"][0]
    assert found["trusted"] == ["Stored now: not ticked"]
    assert refused.context["adminform"].form["description"].value() == "Mine."
    family = ToolFamily.objects.get()
    assert (family.trusted, family.description) == (False, "")


@pytest.mark.parametrize("version", [None, "", "x", "-1"])
def test_a_save_that_names_no_version_is_stale(root, run, version):
    for page, change in (
        (address("tool", "change", run.pk), {"overrides": WRITE}),
        (address("toolfamily", "change", run.family_id), {"description": "x"}),
    ):
        sent = form_values(root.get(page), seen_version=version, _save="1", **change)
        assert errors(root.post(page, sent))
    run.refresh_from_db()
    assert (run.overrides, run.family.description) == ({}, "")


def test_a_tool_that_is_declared_again_keeps_what_is_laid_over_it(root):
    registry.create_family(actor=SYSTEM, values={"name": "crm", "kind": "connector"})
    sent = {"family": ToolFamily.objects.get().pk, "document": '{"name": "refund"}', "_save": "1"}
    root.post(address("tool", "add"), {**sent, "overrides": WRITE})
    root.post(address("tool", "add"), {**sent, "document": '{"name": "refund", "verb": "get"}'})
    refund = Tool.objects.select_related("current").get()
    assert '"verb"' in refund.current.text
    assert refund.overrides == {"permission": "Write"}
    refused = root.post(address("tool", "add"), {**sent, "overrides": EXECUTE})
    assert "There is a tool refund already" in errors(refused)["document"][0]
    refund.refresh_from_db()
    assert refund.overrides == {"permission": "Write"}


# --- reviews -------------------------------------------------------------------------------------


def change(words: str) -> None:
    imported({"tools": [tool("run", description=words)]})


def hidden(page) -> dict[str, object]:
    """Return what the question's form sends."""
    keys = [one.pk for one, _, _ in page.context["tools"]]
    fields = {field: one.current_id for one, field, _ in page.context["tools"]}
    return {"action": "review", "_selected_action": keys, **fields}


def test_a_review_shows_what_changed_and_then_accepts_just_that(root, run):
    change("Runs.")
    asked = root.post(address("tool"), {"action": "review", "_selected_action": [run.pk]})
    shown = text_of(asked)
    assert "<code>/description</code>" in shown
    assert f'name="read-{run.pk}" value="{Tool.objects.get().current_id}"' in shown
    assert Tool.objects.get().state == ToolState.CHANGED
    root.post(address("tool"), hidden(asked))
    assert Tool.objects.get().state == ToolState.ACTIVE


@pytest.mark.parametrize("where", ["question", "page"])
def test_what_came_in_between_the_look_and_the_click_is_not_accepted(root, run, where):
    change("Runs.")
    if where == "question":
        asked = root.post(address("tool"), {"action": "review", "_selected_action": [run.pk]})
        sent = hidden(asked)
    else:
        page = text_of(root.get(address("tool", "change", run.pk)))
        digest = Tool.objects.get().current_id
        assert f'name="read-{run.pk}" value="{digest}"' in page
        sent = {"action": "review", "_selected_action": [run.pk], f"read-{run.pk}": digest}
    change("Runs, and sends your files away.")
    done = root.post(address("tool"), sent, follow=True)
    assert b"declared anew meanwhile" in done.content
    assert Tool.objects.get().state == ToolState.CHANGED


def test_of_several_reviews_all_are_accepted_or_none(root):
    imported(named("one", "two"))
    for row in Tool.objects.all():
        registry.quarantine_tool(actor=SYSTEM, family="box", name=row.name)
    keys = list(Tool.objects.values_list("pk", flat=True))
    asked = root.post(address("tool"), {"action": "review", "_selected_action": keys})
    sent = hidden(asked)
    root.post(address("tool"), {**sent, f"read-{keys[1]}": "sha256:other"})
    assert set(Tool.objects.values_list("state", flat=True)) == {ToolState.QUARANTINED}
    root.post(address("tool"), sent)
    assert set(Tool.objects.values_list("state", flat=True)) == {ToolState.ACTIVE}
