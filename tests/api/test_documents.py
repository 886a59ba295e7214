"""The API described: the OpenAPI document, and its page in a browser without any other server."""

import pytest

from tests.api import described
from tests.api.addresses import asked
from tests.api.described import DESCRIPTION
from toolpolicy.api import examples
from toolpolicy.api.problems import KINDS


@pytest.fixture(scope="module")
def description():
    return described.description()


def operations(description):
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_the_committed_description_is_the_one_that_is_served(stranger):
    response = stranger.get("schema/")
    assert response.status_code == 200
    assert response.content.decode() == DESCRIPTION.read_text(encoding="utf-8")


def test_it_is_served_as_json_too(stranger, description):
    response = stranger.get("schema/", Accept="application/vnd.oai.openapi+json")
    assert response.json() == description


def test_every_operation_is_described(description):
    found = dict(operations(description))
    for one in asked():
        path = one.path.replace("00000000-0000-4000-8000-000000000000", "{uid}")
        path = path.replace("agent-allowlist", "{name}")
        key = "{number}" if "versions" in path else "{id}"
        key = f"{one.method} /api/v1/" + path.replace("/1/", f"/{key}/")
        operation = found.pop(key)
        assert operation["security"] == [{"key": []}]
        needs = operation["description"].removesuffix(".")
        needs = needs.removesuffix(", and a key that is not bound to a context")
        assert needs.endswith(f"Needs the scope `{one.scope}`")
    assert set(found) == {"GET /api/v1/healthz", "GET /api/v1/readyz"}


def test_every_operation_has_a_name_a_group_and_its_problems(description):
    names = [operation["operationId"] for _, operation in operations(description)]
    assert len(names) == len(set(names))
    tags = {tag["name"] for tag in description["tags"]}
    for key, operation in operations(description):
        assert set(operation["tags"]) <= tags
        assert operation["summary"]
        if key.endswith("z"):
            continue
        problems = {code: r for code, r in operation["responses"].items() if int(code) >= 400}
        assert problems.keys() >= {"400", "401", "403", "406", "500", "503"}
        assert all(list(r["content"]) == ["application/problem+json"] for r in problems.values())


def test_the_codes_of_problems_are_listed(description):
    problem = description["components"]["schemas"]["ProblemShape"]
    assert problem["properties"]["code"]["enum"] == sorted(KINDS)


@pytest.mark.parametrize("question", [examples.QUESTION, examples.DESCRIBED])
def test_the_examples_of_questions_are_answered(api, question):
    for path in ("decisions/", "explain/"):
        answer = api.post(path, question)
        assert answer.status_code == 200
        assert examples.ANSWER.keys() <= answer.json().keys()


def test_the_other_examples_are_answered(api):
    assert len(api.post("decisions/batch/", examples.BATCH).json()["results"]) == 2
    assert api.post("catalog/", examples.LISTING).status_code == 200
    layer = api.post("layers/", examples.LAYER).json()
    assert api.post("rules/", {**examples.RULE, "layer": layer["pk"]}).status_code == 201
    assert api.post("clients/", examples.CLIENT).status_code == 201


def test_the_page_lets_in_nothing_but_its_own_server_and_drawn_icons(stranger):
    policy = stranger.get("docs/").headers["Content-Security-Policy"]
    assert "default-src 'self'; img-src 'self' data:;" in policy
    assert "unsafe" not in policy
    elsewhere = stranger.get("/admin/login/").headers["Content-Security-Policy"]
    assert "data:" not in elsewhere
