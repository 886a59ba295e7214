"""The matrix page: what stands in it, what it weighs, its file, and who may see it."""

import csv
import io
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.admin.matrix_table import PAGE, shown
from tests.admin.pages import decide, signed_in, staff, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import make_live, register, strict
from tests.registry.samples import imported, named
from toolpolicy.admin import matrix as pages
from toolpolicy.admin import matrix_cells
from toolpolicy.models import Tool
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db
ROLES = {"author": 200, "publisher": 200, "approver": 200, "auditor": 200, "operator": 403}
SIMULATES = ("author", "publisher", "auditor")


@pytest.fixture
def rules(db):
    imported(named("calc", "mail_send", "run"), family="box")
    return make_live(
        [
            strict(
                {"effect": "deny", "match": {"name": "run"}},
                {
                    "effect": "require_approval",
                    "match": {"name": "mail_*", "arg": {"pointer": "/to", "value": "*@x.com"}},
                },
            ),
            strict(
                {"effect": "deny", "match": {"name": "calc"}},
                name="clerks",
                scope="agent",
                target="clerk",
            ),
        ]
    )


def test_rows_are_tools_and_columns_the_agents_that_are_known(root, rules):
    decide("run", context={"agent": "coder"})
    page = text_of(root.get(PAGE))
    assert re.findall(r'<th scope="col"><span>(.*?)</span>', page) == ["clerk", "coder"]
    assert shown(page) == {
        "calc": ["Deny", "Allow"],
        "mail_send": ["Allow, depends", "Allow, depends"],
        "run": ["Deny", "Deny"],
    }
    assert "Of 6 cells shown, 5 are not a plain yes" in page


def test_a_column_is_added_and_channels_are_columns_too(root, rules):
    page = text_of(root.get(PAGE, {"also": "someone"}))
    assert re.findall(r'<th scope="col"><span>(.*?)</span>', page) == ["someone", "clerk"]
    page = text_of(root.get(PAGE, {"by": "channel", "agent": "clerk"}))
    assert re.findall(r'<th scope="col"><span>(.*?)</span>', page) == ["no channel"]
    assert shown(page)["calc"] == ["Deny"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"q": "MAIL"}, {"mail_send"}),
        ({"q": "box calc"}, {"calc"}),
        ({"family": "box"}, {"calc", "mail_send", "run"}),
        ({"show": "deny"}, {"calc", "run"}),
        ({"show": "depends"}, {"mail_send"}),
        ({"show": "not_plain"}, {"calc", "mail_send", "run"}),
        ({"show": "hidden"}, set()),
        ({"show": "needs_approval"}, set()),
        ({"show": "differs"}, {"calc", "mail_send", "run"}),
        ({"show": "differs", "q": "nothing like it"}, set()),
    ],
)
def test_rows_are_filtered(root, rules, asked, found):
    assert set(shown(text_of(root.get(PAGE, asked)))) == found


def test_rows_are_filtered_by_group(root, rules):
    register("kit", {"name": "read", "group": "files"})
    assert set(shown(text_of(root.get(PAGE, {"group": "files"})))) == {"read"}


def test_what_changed_between_two_versions_is_marked_and_filtered(root, rules):
    make_live([strict({"effect": "deny", "match": {"name": "run"}})])
    page = text_of(root.get(PAGE, {"since": "1", "also": "clerk"}))
    assert shown(page)["calc"] == ["Allow, changed"]
    assert "2 differ from version 1" in page
    page = text_of(root.get(PAGE, {"since": "1", "also": "clerk", "show": "changed"}))
    assert set(shown(page)) == {"calc", "mail_send"}
    old = text_of(root.get(PAGE, {"version": "1", "also": "clerk"}))
    assert "version 1</b>, which is not live," in old
    assert shown(old)["calc"] == ["Deny"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"show": "changed"}, "Choose the version to compare with."),
        ({"since": "7"}, "7 is not one of the available choices"),
        ({"version": "x"}, "x is not one of the available choices"),
        ({"family": "nowhere"}, "nowhere is not one of the available choices"),
        ({"by": "planet"}, "planet is not one of the available choices"),
        ({"also": "a\0b"}, "Null characters are not allowed."),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(root, rules, asked, said):
    page = text_of(root.get(PAGE, {"q": "what I typed", **asked}))
    assert said in page
    assert 'value="what I typed"' in page
    assert "tp-matrix" not in page
    assert text_of(root.get(reverse("admin:toolpolicy_matrix_csv"), asked)).startswith("<!DOCTYPE")


@pytest.mark.parametrize("place", ["row", "column", "version", "since"])
@pytest.mark.parametrize("value", ["-1", "9999999999999999999999", "x", "99999"])
def test_a_strange_address_is_no_error(root, rules, place, value):
    assert root.get(PAGE, {place: value}).status_code == 200


def test_the_context_of_all_columns_is_fixed_by_fields(root, rules):
    make_live([strict({"effect": "deny", "when": {"shift": "night", "channel": "web"}})])
    assert shown(text_of(root.get(PAGE)))["calc"] == ["Allow"]
    page = text_of(root.get(PAGE, {"channel": "web", "context.shift": "night"}))
    assert shown(page)["calc"] == ["Deny"]
    assert "?channel=web&amp;context.shift=night" in page


def test_a_cell_leads_to_why(root, rules):
    page = text_of(root.get(PAGE))
    tool = Tool.objects.get(name="run")
    assert f'<td><a class=d href="{tool.pk}?agent=clerk">Deny</a>' in page
    answer = root.get(f"{PAGE}{tool.pk}?agent=clerk&context.shift=night")
    assert answer["Location"] == (
        f"{reverse('admin:toolpolicy_simulator')}"
        "?tool=run&family=box&surface=call&agent=clerk&context.shift=night"
    )
    assert root.get(f"{PAGE}999999?agent=clerk").status_code == 404


def test_the_page_asks_the_same_for_one_tool_and_for_fifty(root, rules):
    def queries(**asked):
        root.get(PAGE, asked)
        with CaptureQueriesContext(connection) as found:
            text_of(root.get(PAGE, asked))
        return len(found)

    few = queries()
    imported(named(*[f"tool_{number}" for number in range(50)]), family="other")
    for number in range(5):
        decide("run", context={"agent": f"agent-{number}"})
    assert queries() == few
    assert queries(since="1", show="changed") <= few + 1


def test_stored_text_is_escaped(root, rules):
    decide("run", context={"agent": "<b>\u202eevil"})
    page = text_of(root.get(PAGE))
    assert "<b>\u202e" not in page
    assert "\u202e" not in re.sub(r"<option[^>]*>", "", page)
    assert "&lt;b&gt;\\u202eevil" in page


def csv_of(root, **asked: str) -> list[list[str]]:
    answer = root.get(reverse("admin:toolpolicy_matrix_csv"), asked)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert 'attachment; filename="matrix-agents-version-' in answer["Content-Disposition"]
    return list(csv.reader(io.StringIO(answer.getvalue().decode())))


def test_the_file_holds_the_whole_matrix(root, rules, monkeypatch):
    monkeypatch.setattr(matrix_cells, "MOST_ROWS", 1)
    monkeypatch.setattr(pages, "MOST_COLUMNS", 1)
    decide("run", context={"agent": "coder"})
    assert csv_of(root) == [
        ["family", "tool", "clerk", "coder"],
        ["box", "calc", "deny", "allow"],
        ["box", "mail_send", "allow, depends on arguments", "allow, depends on arguments"],
        ["box", "run", "deny", "deny"],
    ]
    assert [row[1] for row in csv_of(root, show="depends")] == ["tool", "mail_send"]


@pytest.mark.parametrize(
    ("agent", "held"),
    [
        ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@sum", "'@sum"),
        ("  =1", "'  =1"),
        ('a"b,c', 'a"b,c'),
        ("x\u202ey", "x\\u202ey"),
        ("=\u202ey", "'=\\u202ey"),
    ],
)
def test_no_field_of_the_file_is_a_formula_or_hides_what_it_says(root, rules, agent, held):
    head = csv_of(root, also=agent)[0]
    expected = held if agent.strip() == agent else held.replace("  ", "")
    assert head[2] == expected


@pytest.mark.parametrize("role", ROLES)
def test_who_may_see_the_policy_sees_what_it_comes_to(role, rules):
    client, expected = signed_in(staff(role, groups=(role,))), ROLES[role]
    file = client.get(reverse("admin:toolpolicy_matrix_csv"))
    assert [client.get(PAGE).status_code, file.status_code] == [expected, expected]
    tool = Tool.objects.get(name="run")
    simulates = role in SIMULATES
    assert client.get(f"{PAGE}{tool.pk}?agent=x").status_code == (302 if simulates else 403)
    assert (b"<td><a class=d" in client.get(PAGE).content) == simulates
    home = client.get(reverse("admin:index")).content
    assert (b'href="/admin/matrix/"' in home) == (expected == 200)
    if expected == 200:
        sees_tools = client.get(reverse("admin:toolpolicy_tool_changelist")).status_code == 200
        assert (b"<th scope=row><a " in client.get(PAGE).content) == sees_tools


def test_nobody_without_a_login_sees_it(client, rules):
    assert client.get(PAGE)["Location"].startswith("/admin/login/")


def test_the_page_says_what_is_missing(root):
    assert "No policy yet" in text_of(root.get(PAGE))
    assert "No policy yet" in text_of(root.get(reverse("admin:toolpolicy_matrix_csv")))
    policies.install_baseline(actor=SYSTEM)
    assert "No tools yet" in text_of(root.get(PAGE))
    make_rule(make_layer())
    imported(named("calc"))
    assert "Nothing found" in text_of(root.get(PAGE, {"q": "zzz"}))
