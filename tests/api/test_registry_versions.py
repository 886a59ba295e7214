"""Lost updates of families and tools over REST: entity tags, `If-Match`, the member `version`."""

from typing import Any, ClassVar

import pytest

from tests.factories import SYSTEM
from tests.registry.samples import imported, named
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.services import registry

THEIRS: dict[str, dict[str, Any]] = {
    "families": {"trusted": False},
    "tools": {"overrides": {"verb": "get"}},
}
MINE: dict[str, dict[str, Any]] = {
    "families": {"description": "Mine."},
    "tools": {"privilege": None, "overrides": {}},
}
KINDS = tuple(THEIRS)


@pytest.fixture(params=KINDS)
def kind(request, api):
    imported(named("run"))
    return request.param


@pytest.fixture
def path(kind):
    row = ToolFamily.objects.get() if kind == "families" else Tool.objects.get()
    return f"{kind}/{row.pk}/"


def test_the_entity_tag_is_the_version_and_moves_with_every_change(api, kind, path):
    read = api.get(path)
    assert (read.headers["ETag"], read.json()["version"]) == ('"1"', 1)
    changed = api.patch(path, THEIRS[kind], If_Match=read.headers["ETag"])
    assert (changed.headers["ETag"], changed.json()["version"]) == ('"2"', 2)
    assert api.get(path).headers["ETag"] == '"2"'


def test_a_change_of_an_older_version_is_refused_and_undoes_nothing(api, kind, path):
    api.patch(path, {**THEIRS[kind], "version": 1})
    stands = api.get(path).json()
    by_member = api.patch(path, {**MINE[kind], "version": 1})
    by_header = api.patch(path, MINE[kind], If_Match='"1"')
    assert [one.status_code for one in (by_member, by_header)] == [409, 412]
    assert {one.json()["code"] for one in (by_member, by_header)} == {"stale"}
    assert "version 2" in by_member.json()["detail"]
    assert api.get(path).json() == stands


@pytest.mark.parametrize(
    ("member", "headers", "expected"),
    [
        ({}, {}, (428, "version_required")),
        ({"version": "1"}, {}, (422, "invalid")),
        ({"version": True}, {}, (422, "invalid")),
        ({}, {"If-Match": "*"}, (400, "bad_header")),
    ],
)
def test_a_change_that_names_no_version_is_refused(api, kind, path, member, headers, expected):
    stands = api.get(path).json()
    response = api.patch(path, {**THEIRS[kind], **member}, **headers)
    assert (response.status_code, response.json()["code"]) == expected
    assert api.get(path).json() == stands


class TestDeclaredAnew:
    BODY: ClassVar = {"family": "hub", "subject": {"name": "run"}, "overrides": {"verb": "get"}}

    @pytest.fixture
    def hub(self, api):
        registry.create_family(actor=SYSTEM, values={"name": "hub", "kind": "toolpack"})
        made = api.post("tools/", self.BODY)
        assert (made.status_code, made.headers["ETag"]) == (200, '"1"')

    @pytest.mark.usefixtures("hub")
    def test_without_what_is_laid_over_it_no_version_is_needed(self, api):
        sent = {"family": "hub", "subject": {"name": "run", "verb": "list"}}
        again = api.post("tools/", sent).json()
        assert (again["version"], again["overrides"]) == (2, {"verb": "get"})

    @pytest.mark.usefixtures("hub")
    @pytest.mark.parametrize(
        ("members", "headers", "status", "code"),
        [
            ({}, {}, 428, "version_required"),
            ({"version": 7}, {}, 409, "stale"),
            ({}, {"If-Match": '"7"'}, 412, "stale"),
            ({"version": "1"}, {}, 422, "invalid"),
        ],
    )
    def test_what_is_laid_over_it_is_not_replaced_unseen(self, api, members, headers, status, code):
        sent = {**self.BODY, "overrides": {"verb": "delete"}, **members}
        response = api.post("tools/", sent, **headers)
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert Tool.objects.get().overrides == {"verb": "get"}

    @pytest.mark.usefixtures("hub")
    def test_who_names_the_version_replaces_it(self, api):
        sent = {**self.BODY, "overrides": {"verb": "delete"}}
        answer = api.post("tools/", sent, If_Match='"1"').json()
        assert (answer["overrides"], answer["version"]) == ({"verb": "delete"}, 2)
