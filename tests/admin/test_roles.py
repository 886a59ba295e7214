"""Who may do what, act by act; `test_role_matrix` has the pages. No role is part of another."""

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse

from tests.admin.pages import address, decide, signed_in, staff
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import ApiClient, Freeze, Layer, Record, Tool
from toolpolicy.services import clients, freezes, holds, masking

pytestmark = pytest.mark.django_db

ROLES = ("author", "publisher", "approver", "auditor", "audit reader", "operator")
OURS = (
    *("layer", "rule", "policyversion", "document", "policystate", "record", "freeze"),
    *("ruleusage", "sessiontaint", "refusalcount", "tool", "toolfamily", "tooldeclaration"),
    *("masking", "apiclient", "legalhold"),
)
# What each role sees.
SEES = {
    "author": {
        *("layer", "rule", "policyversion", "document", "policystate", "ruleusage"),
        *("tool", "toolfamily", "tooldeclaration", "record"),
    },
    "publisher": {
        *("layer", "rule", "policyversion", "document", "policystate", "ruleusage"),
        *("tool", "toolfamily", "tooldeclaration", "record", "legalhold"),
    },
    "approver": {"layer", "rule", "policyversion", "record", "tool", "toolfamily"},
    "auditor": set(OURS),
    "audit reader": {"record"},
    "operator": {
        *("freeze", "apiclient", "tool", "toolfamily", "tooldeclaration"),
        *("refusalcount", "sessiontaint", "record", "masking"),
    },
}
# What each role adds, and what it may save on a page or by an act of the list.
ADDS = {
    "author": {"layer", "rule"},
    "publisher": {"legalhold"},
    "operator": {"freeze", "apiclient", "tool", "toolfamily"},
}
SAVES = {"author": {"layer", "rule"}, "operator": {"tool", "toolfamily", "masking"}}
ADDABLE = ("layer", "rule", "freeze", "legalhold", "apiclient", "tool", "toolfamily")


@pytest.fixture
def rows(db):
    layer = make_layer()
    rule = make_rule(layer)
    imported(named("read"), family="box")
    client, _ = clients.create(actor=SYSTEM, values={"name": "helpdesk"})
    freeze = freezes.freeze(
        actor=SYSTEM, values={"kind": "agent", "value": "research", "reason": "a loop"}
    )
    hold = holds.place(actor=SYSTEM, values={"name": "case 7", "reason": "a claim", "filter": {}})
    decide("read")
    tool = Tool.objects.get()
    return {
        "layer": layer,
        "rule": rule,
        "freeze": freeze,
        "legalhold": hold,
        "apiclient": client,
        "tool": tool,
        "toolfamily": tool.family,
        "masking": masking.everywhere(),
    }


def as_role(role: str):
    return signed_in(staff(role, groups=(role,)))


@pytest.mark.parametrize("role", ROLES)
def test_a_role_saves_what_is_its_own(role, rows):
    client = as_role(role)
    pages = {model: client.get(address(model, "change", row.pk)) for model, row in rows.items()}
    saves = {
        model
        for model, page in pages.items()
        if page.status_code == 200 and b'name="_save"' in page.content
    }
    assert saves == SAVES.get(role, set())
    for model in rows.keys() - saves:
        response = client.post(address(model, "change", rows[model].pk), {"_save": "1"})
        assert response.status_code == 403


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_delete_and_only_layers_and_rules(role, rows):
    client = as_role(role)
    for model in ("freeze", "legalhold", "apiclient", "tool", "toolfamily"):
        page = address(model, "delete", rows[model].pk)
        assert client.post(page, {"post": "yes"}).status_code == 403
    for model in ("rule", "layer"):
        response = client.post(address(model, "delete", rows[model].pk), {"post": "yes"})
        assert response.status_code == (302 if role == "author" else 403)


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_preview_a_rule(role, rows):
    client = as_role(role)
    sent = {"_preview": "1", "_part": "live", "effect": "deny", "match__name": "read"}
    expected = 200 if role == "author" else 403
    layer, rule = rows["layer"], rows["rule"]
    for page in (
        f"{address('rule', 'add')}?layer={layer.pk}",
        address("rule", "change", rule.pk),
    ):
        assert client.post(page, sent).status_code == expected


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_move_layers_and_rules(role, rows):
    client = as_role(role)
    layer, rule = rows["layer"], rows["rule"]
    expected = 302 if role == "author" else 403
    moves = (
        (address("layer", "move", layer.pk), {"up": layer.pk}),
        (address("layer", "move_rule", layer.pk), {"up": rule.pk, "version": layer.version}),
        (address("layer", "rule_act", layer.pk), {"disable": rule.pk, "version": layer.version}),
        (address("layer", "rule_act", layer.pk), {"duplicate": rule.pk, "version": layer.version}),
    )
    for page, sent in moves:
        assert client.post(page, sent).status_code == expected


@pytest.mark.parametrize("role", ROLES)
def test_only_publishers_lift_holds(role, rows):
    client, hold = as_role(role), rows["legalhold"]
    client.post(address("legalhold"), {"action": "lift", "_selected_action": [hold.pk]})
    hold.refresh_from_db()
    assert (hold.lifted_at is not None) == (role == "publisher")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("model", "action"),
    [("freeze", "lift"), ("apiclient", "revoke"), ("tool", "quarantine"), ("tool", "retire")],
)
def test_only_operators_act_on_freezes_keys_and_tools(role, model, action, rows):
    client = as_role(role)
    sent = {"action": action, "_selected_action": [rows[model].pk], "sure": "yes"}
    client.post(address(model), sent)
    acted = (
        Freeze.objects.filter(lifted_at__isnull=False).exists(),
        ApiClient.objects.filter(revoked_at__isnull=False).exists(),
        Tool.objects.exclude(state="active").exists(),
    )
    assert any(acted) == (role == "operator")


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_start_from_a_recipe(role, rows):
    client, page = as_role(role), address("layer", "recipe", "approval-allowlist")
    expected = 200 if role == "author" else 403
    assert client.get(address("layer", "recipes")).status_code == expected
    assert client.get(page).status_code == expected
    client.post(page, {"allow": "read_*", "sure": "yes"})
    assert Layer.objects.filter(name="approval allowlist").exists() == (role == "author")
    if role != "operator":
        listed = client.get(address("layer")).content
        assert (b"Start from a recipe" in listed) == (role == "author")


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_import_a_policy_and_whoever_sees_layers_exports_it(role, rows):
    client, page = as_role(role), address("layer", "import")
    assert client.get(page).status_code == (200 if role == "author" else 403)
    sent = {"text": "[]", "syntax": "json", "mode": "replace"}
    assert client.post(page, sent).status_code == (200 if role == "author" else 403)
    assert client.post(page, {"held": "x"}).status_code == (302 if role == "author" else 403)
    expected = 200 if "layer" in SEES[role] else 403
    exported = client.get(address("layer", "export") + "?format=yaml")
    assert exported.status_code == expected
    if expected == 200:
        assert (page.encode() in client.get(address("layer")).content) == (role == "author")


@pytest.mark.parametrize("role", ROLES)
def test_authors_publishers_and_auditors_ask_the_simulator(role, rows):
    client, page = as_role(role), reverse("admin:toolpolicy_simulator")
    may = role in ("author", "publisher", "auditor")
    assert client.get(page).status_code == (200 if may else 403)
    asked = client.post(page, {"act": "simulate", "surface": "call", "tool": "read"})
    assert asked.status_code == (302 if may else 403)
    assert Record.objects.filter(kind="simulation").exists() == may
    assert (page.encode() in client.get(reverse("admin:index")).content) == may


@pytest.mark.parametrize("role", ROLES)
def test_who_simulates_asks_a_recorded_call_again_and_authors_make_a_rule_of_it(role, rows):
    client, record = as_role(role), Record.objects.filter(kind="decision").latest("pk")
    asks = role in ("author", "publisher", "auditor")
    asked = client.post(address("record", "today", record.pk))
    assert asked.status_code == (302 if asks else 403)
    compared = client.get(address("record", "compare", record.pk, record.uid))
    assert compared.status_code == (404 if asks else 403)
    made = client.get(address("record", "rule", record.pk))
    assert made.status_code == (200 if role == "author" else 403)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("model", ["user", "group"])
def test_auditors_see_people_and_groups_and_no_role_manages_them(role, model):
    client = as_role(role)
    row = User.objects.get() if model == "user" else Group.objects.get(name="author")
    for page in (address(model), address(model, "change", row.pk)):
        response = client.get(page)
        assert response.status_code == (200 if role == "auditor" else 403)
        assert b'name="_save"' not in response.content
        assert b"Set a" not in response.content
    assert client.get(address(model, "add")).status_code == 403
    for page in ("change", "delete"):
        assert client.post(address(model, page, row.pk), {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_choose_a_first_policy(role, db):
    client = as_role(role)
    assert (b"Choose how to start" in client.get("/admin/").content) == (role == "author")
    expected = 302 if role == "author" else 403
    page = reverse("admin:toolpolicy_start", args=("ask",))
    assert client.post(page).status_code == expected
    assert Layer.objects.exists() == (role == "author")


def test_controls_that_a_role_lacks_are_left_out(rows):
    auditor = as_role("auditor")
    layers = auditor.get(address("layer")).content
    assert b"Add layer" not in layers
    assert b"Move " not in layers
    page = auditor.get(address("layer", "change", rows["layer"].pk)).content
    assert b"Add a rule" not in page
    assert b"Move " not in page
    assert b"Lift" not in auditor.get(address("freeze", "change", rows["freeze"].pk)).content
    assert (
        b"Revoke" not in auditor.get(address("apiclient", "change", rows["apiclient"].pk)).content
    )
