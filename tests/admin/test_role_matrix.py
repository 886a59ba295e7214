"""Every page and action of the admin by role: what does not stand in the table fails the test.

Whoever adds a page says here who may open it. What a role lacks is refused, and no page that the
role sees leads there.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.urls import URLPattern, get_resolver, resolve, reverse
from django.utils import timezone

from tests.admin.pages import address, decide, signed_in, staff, superuser
from tests.admin.test_roles import ADDABLE, ADDS, ROLES, SEES
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import Record, RefusalCount, SessionTaint, Tool
from toolpolicy.services import clients, freezes, holds

pytestmark = pytest.mark.django_db

EVERYBODY = (*ROLES, "superuser")
PEOPLE = ("user", "group")


def _who(*roles: str) -> set[str]:
    return {*roles, "superuser"}


AUDITS = _who("auditor", "audit reader")
# Pages for everybody who is signed in, or not.
OPEN = {
    *("index", "login", "logout", "password_change", "password_change_done", "jsi18n", "app_list"),
}
# Pages beside those that each model has: who may open them, and what their address takes.
OWN: dict[str, tuple[set[str], str]] = {
    "toolpolicy_matrix": (_who("author", "publisher", "approver", "auditor"), ""),
    "toolpolicy_matrix_csv": (_who("author", "publisher", "approver", "auditor"), ""),
    "toolpolicy_matrix_why": (_who("author", "publisher", "auditor"), "tool"),
    "toolpolicy_policyversion_compare": (_who("author", "publisher", "approver", "auditor"), ""),
    "toolpolicy_policyversion_roll_back": (_who("publisher"), "policyversion"),
    "toolpolicy_audit": (AUDITS, ""),
    "toolpolicy_audit_verify": (AUDITS, ""),
    "toolpolicy_timeline": (AUDITS, ""),
    "toolpolicy_audit_take": (AUDITS, ""),
    "toolpolicy_audit_program": (AUDITS, ""),
    "toolpolicy_reports": (AUDITS, ""),
    "toolpolicy_point_in_time": (AUDITS, ""),
    "toolpolicy_report": (AUDITS, "name"),
    "toolpolicy_report_file": (AUDITS, "name form"),
    "toolpolicy_simulator": (_who("author", "publisher", "auditor"), ""),
    "toolpolicy_start": (_who("author"), "name"),
    "toolpolicy_layer_export": (_who("author", "publisher", "approver", "auditor"), ""),
    "toolpolicy_layer_import": (_who("author"), ""),
    "toolpolicy_layer_recipes": (_who("author"), ""),
    "toolpolicy_layer_recipe": (_who("author"), "name"),
    "toolpolicy_layer_move": (_who("author"), "layer"),
    "toolpolicy_layer_move_rule": (_who("author"), "layer"),
    "toolpolicy_layer_rule_act": (_who("author"), "layer"),
    "toolpolicy_toolfamily_export": (
        _who(*(role for role in ROLES if "toolfamily" in SEES[role])),
        "toolfamily",
    ),
    "toolpolicy_record_payload": (_who("author", "publisher", "approver", "auditor"), "record"),
    "toolpolicy_record_simulator": (_who("author", "publisher", "auditor"), "record"),
    # Asking again tells what was sent: that takes both rights.
    "toolpolicy_record_today": (_who("author", "publisher", "auditor"), "record"),
    "toolpolicy_record_compare": (_who("author", "publisher", "auditor"), "record uid"),
    "toolpolicy_record_rule": (_who("author"), "record"),
    "toolpolicy_tool_import": (_who("operator"), ""),
    "toolpolicy_apiclient_key": (_who("operator"), "apiclient"),
    "auth_user_password_change": (_who(), "user"),
}
DELETES = {"layer": _who("author"), "rule": _who("author"), "group": _who()}
# The acts of lists, and who is offered them.
ACTIONS = {
    ("tool", "label"): _who("operator"),
    ("tool", "review"): _who("operator"),
    ("tool", "quarantine"): _who("operator"),
    ("tool", "retire"): _who("operator"),
    ("apiclient", "revoke"): _who("operator"),
    ("freeze", "lift"): _who("operator"),
    ("legalhold", "lift"): _who("publisher"),
}
# Pages that only take what is sent.
ACTS = {
    "toolpolicy_audit_verify",
    *("toolpolicy_start", "toolpolicy_layer_move", "toolpolicy_layer_move_rule"),
    *("toolpolicy_record_today", "toolpolicy_layer_rule_act"),
    *("toolpolicy_record_payload", "toolpolicy_record_simulator"),
}
COMPARED = "toolpolicy_record_compare"
# Nothing of Django's that nobody uses here.
UNUSED = {"autocomplete", "view_on_site"}


def models() -> list[str]:
    return [model._meta.model_name or "" for model in admin.site._registry]


def sees(model: str) -> set[str]:
    if model in PEOPLE:
        return _who("auditor")
    return _who(*(role for role in ROLES if model in SEES[role]))


def adds(model: str) -> set[str]:
    if model in PEOPLE:
        return _who()
    roles = _who(*(role for role in ROLES if model in ADDS.get(role, ())))
    return roles if model in ADDABLE else set()


def table() -> dict[str, tuple[set[str], str]]:
    """Return every page: who may open it, and what its address takes."""
    found = dict(OWN)
    for model in models():
        app = "auth" if model in PEOPLE else "toolpolicy"
        found[f"{app}_{model}_changelist"] = (sees(model), "")
        found[f"{app}_{model}_add"] = (adds(model), "")
        found[f"{app}_{model}_change"] = (sees(model), model)
        found[f"{app}_{model}_history"] = (sees(model), model)
        found[f"{app}_{model}_delete"] = (DELETES.get(model, set()), model)
    return found


def patterns(under: Any = None, prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for one in under or get_resolver().url_patterns:
        if isinstance(one, URLPattern):
            yield prefix + str(one.pattern), one.name
        else:
            yield from patterns(one.url_patterns, prefix + str(one.pattern))


@pytest.fixture
def house(db: None) -> dict[str, Any]:
    """One row of everything, and what takes part in an address."""
    layer = make_layer()
    rule = make_rule(layer, id="house-rule", match={"name": "read"})
    imported(named("read"), family="box")
    client, _ = clients.create(actor=SYSTEM, values={"name": "helpdesk"})
    freeze = freezes.freeze(
        actor=SYSTEM, values={"kind": "agent", "value": "research", "reason": "a loop"}
    )
    hold = holds.place(actor=SYSTEM, values={"name": "case 7", "reason": "a claim", "filter": {}})
    answer = decide("read", context={"agent": "coder"})
    record = Record.objects.get(uid=answer.decision_id)
    person, group = User.objects.create(username="somebody"), Group.objects.get(name="author")
    tool = Tool.objects.get()
    SessionTaint.objects.create(client=client, session="s")
    RefusalCount.objects.create(address="192.0.2.7", minute=timezone.now(), status=401)
    given = {
        "layer": layer,
        "rule": rule,
        "apiclient": client,
        "freeze": freeze,
        "legalhold": hold,
        "record": record,
        "tool": tool,
        "toolfamily": tool.family,
        "user": person,
        "group": group,
    }
    keys = {model: row.pk for model, row in given.items()}
    for cls in admin.site._registry:
        first = cls._default_manager.first()
        keys.setdefault(cls._meta.model_name or "", first.pk if first else 1)
    return {**keys, "uid": answer.decision_id, "form": "csv"}


def path_of(name: str, takes: str, house: dict[str, Any]) -> str:
    known = {
        "toolpolicy_start": "ask",
        "toolpolicy_layer_recipe": "approval-allowlist",
        "toolpolicy_report": "changes",
        "toolpolicy_report_file": "changes",
    }
    args = [known[name] if one == "name" else house[one] for one in takes.split()]
    path = reverse(f"admin:{name}", args=args)
    query = {
        "toolpolicy_rule_add": f"?layer={house['layer']}",
        "toolpolicy_toolfamily_export": "?format=mcp",
        "toolpolicy_layer_export": "?format=yaml",
    }
    return path + query.get(name, "")


def as_role(role: str) -> Any:
    return signed_in(superuser() if role == "superuser" else staff(role, groups=(role,)))


def test_every_page_and_every_action_stands_in_the_table():
    # Without a name: what Django redirects, and what is nowhere.
    named_pages = {name for route, name in patterns() if route.startswith("admin/") and name}
    assert named_pages - OPEN - UNUSED == set(table())
    actions = {
        (model._meta.model_name, action)
        for model, page in admin.site._registry.items()
        for action in page.actions or ()
    }
    assert actions == set(ACTIONS)


@pytest.mark.parametrize("role", EVERYBODY)
def test_a_role_opens_its_pages_and_is_refused_at_all_others(role, house):
    client = as_role(role)
    opened = set()
    for name, (_, takes) in table().items():
        path = path_of(name, takes, house)
        response = client.post(path) if name in ACTS else client.get(path)
        if response.status_code != 403:
            opened.add(name)
            assert response.status_code in (200, 302) or name == COMPARED, (name, response)
    wanted = {name for name, (roles, _) in table().items() if role in roles}
    assert opened - wanted == set()
    assert wanted - opened == set()


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_lacks_it_cannot_post_to_either(role, house):
    client = as_role(role)
    before = Record.objects.count()
    for name, (roles, takes) in table().items():
        if role not in roles:
            posted = {"post": "yes", "sure": "yes", "_save": "1", "name": "x", "up": "1"}
            status = client.post(path_of(name, takes, house), posted).status_code
            assert status == 403, name
    assert Record.objects.count() == before


@pytest.mark.parametrize("role", EVERYBODY)
def test_a_role_is_offered_its_acts_and_no_others(role, house):
    client = as_role(role)
    offered = set()
    for model in {model for model, _ in ACTIONS}:
        response = client.get(address(model))
        if response.status_code == 403:
            continue
        form = response.context["action_form"]
        choices = [] if form is None else form.fields["action"].choices
        offered |= {(model, name) for name, _ in choices if name}
    assert offered == {act for act, roles in ACTIONS.items() if role in roles}


@pytest.mark.parametrize("role", EVERYBODY)
def test_no_page_leads_a_role_to_where_it_is_refused(role, house):
    client = as_role(role)
    waiting, seen, times = deque([reverse("admin:index")]), set(), Counter[str]()
    pages = table()
    while waiting:
        path = waiting.popleft()
        name = resolve(urlsplit(path).path).url_name or ""
        # A few of each kind are enough, with their parameters.
        if path in seen or times[name] >= 3 or name in ("logout", "jsi18n"):
            continue
        seen.add(path)
        times[name] += 1
        response = client.get(path, follow=True)
        assert response.status_code == 200, f"{path}: {response.status_code}"
        if "html" not in response.get("Content-Type", ""):
            continue
        path = response.request["PATH_INFO"]  # where it was led to
        text = response.content.decode()
        waiting.extend(sorted(links(path, text, "href")))
        for target in links(path, text, "(?:form)?action"):
            acted = resolve(urlsplit(target).path).url_name or ""
            assert acted in OPEN or role in pages[acted][0], f"{path} offers {target}"
    assert len(seen) > 5


def links(path: str, text: str, attribute: str) -> set[str]:
    found = re.findall(rf'[\s<]{attribute}="([^"#]*)', text)
    targets = {urljoin(path, unescape(one)) for one in found if one}
    return {one for one in targets if one.startswith("/admin/") and "//" not in one}


def test_somebody_in_no_group_sees_the_home_page_and_nothing_else(house):
    client = signed_in(staff("nobody"))
    assert client.get(reverse("admin:index")).status_code == 200
    for name, (_, takes) in table().items():
        path = path_of(name, takes, house)
        assert name in ACTS or client.get(path).status_code == 403, name
        assert client.post(path).status_code == 403, name


def test_whoever_is_not_signed_in_is_sent_to_the_login_page(client, house):
    for name, (_, takes) in table().items():
        path = path_of(name, takes, house)
        for response in (client.get(path), client.post(path, {"post": "yes"})):
            assert response.status_code == 302, name
            assert response["Location"].startswith(reverse("admin:login")), name
