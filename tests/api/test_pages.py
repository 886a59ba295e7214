"""Lists of more than one page: every row once, in the order of one long page."""

import pytest

from tests.factories import make_layer, make_rule
from tests.live import register
from toolpolicy.services import clients
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db

LISTS = ("layers/", "rules/", "families/", "tools/", "policy/versions/", "records/", "clients/")


@pytest.fixture
def rows(api):
    for name in ("one", "two", "three"):
        for number in range(2):
            make_rule(make_layer(f"{name} {number}"), match={"name": name})
        register(name, {"name": "read"}, {"name": "write"}, {"name": name})
        clients.create(actor=Actor.system("tests"), values={"name": name})
        api.post("decisions/", {"surface": "call", "tool": {"family": name, "name": name}})


def uid(row):
    return next(row[name] for name in ("uid", "pk", "id", "version") if name in row)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("path", LISTS)
def test_pages_hold_every_row_once_in_the_order_of_one_long_page(api, path, size):
    whole = [uid(row) for row in api.get(f"{path}?page_size=100").json()["results"]]
    assert len(whole) > size
    found, following = [], f"/api/v1/{path}?page_size={size}"
    while following:
        page = api.get(following).json()
        assert 0 < len(page["results"]) <= size
        found += [uid(row) for row in page["results"]]
        following = page["next"] and page["next"].removeprefix("http://testserver")
    assert found == whole
