"""Names that look like another registered one are told of, and cost no more than they must."""

import pytest

from tests.registry.samples import imported, named
from toolpolicy.engine import near_names as module
from toolpolicy.engine.near_names import near_names


def near(new, known=()):
    return [(one.tool, one.like, one.how) for one in near_names(new, known)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("get_user", "get-user"),
        ("get_user", "getuser"),
        ("github/create.issue", "github_create_issue"),
        ("Get_User", "get-user"),
    ],
)
@pytest.mark.parametrize("family", ["a", "b"])
def test_names_that_differ_by_separators_are_near_in_one_family_too(one, other, family):
    assert near([("a", one)], [(family, other)]) == [
        (("a", one), (family, other), "separators only")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("send_mail", "send_mall"),
        ("send_mail", "sends_mail"),
        ("sends_mail", "send_mail"),
        ("send_mail", "send_mai"),
        ("send_mail", "send_mai1"),
        ("send_mail", "send_mails"),
        ("send_mail", "xsend-mail"),
    ],
)
def test_names_one_character_apart_are_near_across_families_only(one, other):
    expected = [(("a", one), ("b", other), "one character")]
    assert near([("a", one)], [("b", other)]) == expected
    assert near([("a", one)], [("a", other)]) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("send_mail", "send_mail"),
        ("run", "ran"),
        ("abcd", "abcde"),
        ("list_page_1", "list_page_2"),
        ("list_page", "list_page1"),
        ("send_mail", "read_mail"),
        ("abcdef", "bcdefg"),
        ("abcdef", "abdcef"),
        ("a" * 70, "a" * 69 + "b"),
    ],
)
def test_other_names_are_not(one, other):
    assert near([("a", one)], [("b", other)]) == []


def test_each_pair_is_told_once():
    names = [("a", "send_mail"), ("b", "send-mail"), ("c", "send_mails")]
    assert near(names, names) == [
        (("a", "send_mail"), ("b", "send-mail"), "separators only"),
        (("a", "send_mail"), ("c", "send_mails"), "one character"),
        (("b", "send-mail"), ("c", "send_mails"), "one character"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(lambda n: f"tool_{n:05}_of_a_server", id="numbered"),
        pytest.param(lambda n: "-".join(f"{n:020b}").replace("0", "x"), id="two letters"),
        pytest.param(lambda n: "".join("_"[: n >> at & 1] + "a" for at in range(14)), id="one"),
    ],
)
def test_ten_times_the_names_cost_ten_times_the_work_whatever_they_are(name, monkeypatch):
    compared = 0
    compare = module._one_apart

    def counted(one, other):
        nonlocal compared
        compared += 1
        return compare(one, other)

    monkeypatch.setattr(module, "_one_apart", counted)
    for number in (200, 2_000):
        compared = 0
        names = [(f"family {n % 7}", name(n)) for n in range(number)]
        told = near_names(names, names)
        assert compared <= number * 30 * module.LOOKED_AT
        assert len(told) <= number * module.TOLD


@pytest.mark.django_db
class TestImport:
    def test_a_new_tool_that_looks_like_one_of_another_family_is_warned_of(self):
        imported(named("create_issue"), family="github")
        report = imported(named("create_issues", "close_issue"), family="evil")
        assert report.wire()["warnings"] == [
            {
                "name": "create_issues",
                "like": "github/create_issue",
                "message": "`evil/create_issues` looks like `github/create_issue`: "
                "they differ by one character",
            }
        ]

    def test_the_warning_comes_with_the_dry_run_and_not_again_later(self):
        imported(named("create_issue"), family="github")
        assert imported(named("create-issue"), family="evil", dry_run=True).warnings
        assert imported(named("create-issue"), family="evil").warnings
        assert imported(named("create-issue"), family="evil").warnings == ()

    def test_tools_of_one_list_are_compared_with_each_other(self):
        assert len(imported(named("get_user", "get-user")).warnings) == 1
