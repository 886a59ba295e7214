"""`policy/recipes`: a layer from a recipe, tried first, and every fault with its place."""

import pytest

from tests.api.stored import counts
from tests.documents.faces import TOLD
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.services import policies


def places(response, status=422):
    assert response.status_code == status, response.content
    return [error["pointer"] for error in response.json()["errors"]]


class TestRecipes:
    @pytest.mark.parametrize("name", RECIPES)
    def test_a_dry_run_shows_the_layer_that_is_added_then(self, key_with, name):
        api = key_with("policy:write")
        before = counts()
        path = f"policy/recipes/{name}/"
        tried = api.post(path, {**TOLD[name], "dry_run": True}).json()
        assert counts() == before
        done = api.post(path, TOLD[name]).json()
        assert done["changes"] == tried["changes"]
        assert (tried["dry_run"], done["policy"]["version"]) == (True, 1)
        assert [done["changes"][0]["after"]] == policies.export()["layers"]

    @pytest.mark.parametrize(
        ("name", "sent", "expected"),
        [
            ("agent-allowlist", {}, ["", ""]),
            (
                "agent-allowlist",
                {"agent": 5, "allow": "x", "deny": [1], "alow": []},
                ["/alow", "/agent", "/deny/0"],
            ),
            ("agent-allowlist", {"agent": "", "allow": ["x"]}, ["/agent"]),
            ("agent-allowlist", {"agent": "a", "allow": []}, ["/allow"]),
            ("agent-allowlist", {"agent": "a", "allow": ["x"], "dry_run": 1}, ["/dry_run"]),
            ("agent-allowlist", {"agent": "a" * 1_025, "allow": ["x"]}, ["/agent"]),
            ("agent-allowlist", {"agent": "a" * 200, "allow": ["x"]}, ["/agent"]),
            ("agent-allowlist", {"agent": "a", "allow": ["x" * 1_025]}, ["/allow"]),
            ("channel-ceiling", {"channel": "c", "level": "All"}, ["/level"]),
            ("channel-ceiling", {"channel": "c", "level": "Dangerous"}, ["/level"]),
            ("server-filter", {"family": "f"}, ["/allow"]),
            ("user-toggles", {"session": "s", "toggles": {"a": "maybe"}}, ["/toggles/a"]),
            ("user-toggles", {"session": "s", "toggles": {}}, ["/toggles"]),
            ("user-toggles", {"session": "s", "toggles": ["a"]}, ["/toggles"]),
        ],
    )
    def test_every_fault_has_its_place_and_nothing_changes(self, api, name, sent, expected):
        before = counts()
        assert places(api.post(f"policy/recipes/{name}/", sent)) == expected
        assert counts() == before

    def test_a_layer_that_is_there_is_not_added_twice(self, api):
        for name, place in (("agent-allowlist", "/agent"), ("approval-allowlist", "")):
            path = f"policy/recipes/{name}/"
            assert api.post(path, TOLD[name]).status_code == 200
            assert places(api.post(path, TOLD[name])) == [place]

    def test_an_unknown_recipe_names_the_known_ones(self, api):
        answer = api.post("policy/recipes/omelette/", {})
        assert answer.status_code == 404
        assert "agent-allowlist" in answer.json()["detail"]
