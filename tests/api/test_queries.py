"""Fixed numbers of queries: a decision's in rules, layers and tools, a list's in its rows."""

import pytest
from django.db import connection

from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.audit import sealer
from toolpolicy.services import policies, registry, seen

QUESTION = {
    "surface": "call",
    "tool": "send_mail",
    "arguments": {"to": "a"},
    "context": {"agent": "a", "channel": "c"},
}
IN_SESSION = {**QUESTION, "context": {"session": "s-1"}}
# Savepoints of the test's own transaction: one to begin, one to end each atomic block.
BLOCK = 2
KEY, LIVE, TAINT = 1, 1, 1
RECORD = 2 + 1  # the record, its body, the use of rules


def grow(rules: int) -> None:
    """Publish a policy with so many more rules, in layers of 100, and a registry of 20 tools."""
    entries = [
        {
            "scope": "config",
            "combining": "deny_overrides",
            "policy": {
                "name": f"layer {number}",
                "rules": [
                    {"id": f"r{n}", "effect": "deny", "match": {"name": f"never-{n}"}}
                    for n in range(min(100, rules - number))
                ],
            },
        }
        for number in range(0, rules, 100)
    ]
    policies.add_layers(actor=SYSTEM, layers=entries, summary="grew")
    tools = [{"name": "send_mail"}, *({"name": f"tool_{n}"} for n in range(rules // 25))]
    registry.import_tools(actor=SYSTEM, family="mail", document={"tools": tools})


@pytest.fixture(params=[1, 500], ids=lambda rules: f"{rules} rules")
def warm(request, api, django_capture_on_commit_callbacks):
    """Give the API over a policy of 1 or 500 rules, its caches filled, its key's use noted."""
    grow(request.param)
    with django_capture_on_commit_callbacks(execute=True):
        api.post("decisions/", QUESTION)
    yield api
    seen.forget()


def test_a_decision(warm, django_assert_num_queries):
    with django_assert_num_queries(KEY + LIVE + BLOCK + RECORD):
        assert warm.post("decisions/", QUESTION).status_code == 200


def test_a_decision_in_a_session(warm, django_assert_num_queries):
    with django_assert_num_queries(KEY + LIVE + TAINT + BLOCK + RECORD + TAINT):
        warm.post("decisions/", IN_SESSION)
    with django_assert_num_queries(KEY + LIVE + TAINT + BLOCK + RECORD):
        warm.post("decisions/", IN_SESSION)


def test_an_explanation(warm, django_assert_num_queries):
    with django_assert_num_queries(KEY + LIVE + BLOCK + RECORD - 1):  # counts no use
        warm.post("explain/", QUESTION)


def test_a_listing(warm, django_assert_num_queries):
    with django_assert_num_queries(KEY + LIVE + BLOCK + RECORD - 1):
        warm.post("catalog/", {"surface": "catalog"})


@pytest.mark.parametrize("items", [1, 5])
def test_a_batch_writes_two_rows_an_item_and_reads_once(warm, items, django_assert_num_queries):
    with django_assert_num_queries(KEY + LIVE + BLOCK + 2 * items + 1):
        warm.post("decisions/batch/", {"items": [QUESTION] * items})


def test_a_repeat(warm, django_assert_num_queries):
    warm.post("decisions/", QUESTION, Idempotency_Key="k")
    lock = 1 if connection.vendor == "postgresql" else 0
    with django_assert_num_queries(KEY + LIVE + BLOCK + lock + 1):
        warm.post("decisions/", QUESTION, Idempotency_Key="k")


def test_a_refusal(warm, django_assert_num_queries):
    with django_assert_num_queries(KEY + BLOCK + 2):
        assert warm.post("decisions/", {}).status_code == 422


@pytest.fixture(params=[1, 5], ids=lambda rows: f"{rows} rows")
def rows(request, api):
    """Give the API over so many rows of everything that is listed."""
    for number in range(request.param):
        layer = make_layer(f"layer {number}")
        make_rule(layer, match={"name": f"x{number}"})
        document = {"tools": [{"name": f"tool_{number}"}]}
        registry.import_tools(actor=SYSTEM, family=f"family-{number}", document=document)
        api.post("decisions/", QUESTION)
        api.post("clients/", {"name": f"client {number}"})
    return api


@pytest.mark.parametrize(
    "path",
    ["layers/", "rules/", "families/", "tools/", "records/", "clients/", "policy/versions/"],
)
def test_a_list(rows, path, django_assert_num_queries):
    with django_assert_num_queries(KEY + 1):
        assert rows.get(path).json()["results"]


def test_the_live_policy_and_its_versions(rows, django_assert_num_queries):
    with django_assert_num_queries(KEY + 1):
        rows.get("policy/")
    with django_assert_num_queries(KEY + 1):
        rows.get("policy/versions/2/")
    with django_assert_num_queries(KEY + 2):
        rows.get("policy/versions/diff/?from=1&to=2")


def test_one_of_each(rows, django_assert_num_queries):
    numbered = ("layers", "rules", "families", "tools")
    keys = [(name, rows.get(f"{name}/").json()["results"][-1]["pk"]) for name in numbered]
    keys.append(("records", rows.get("records/").json()["results"][0]["uid"]))
    for path in (f"{name}/{key}/" for name, key in keys):
        with django_assert_num_queries(KEY + 1):
            assert rows.get(path).status_code == 200


SEAL = 4  # the record's header, its block, the leaves beside it, the keys


def test_a_sealed_record(rows, django_assert_num_queries):
    sealer.seal_all()
    uid = rows.get("records/").json()["results"][0]["uid"]
    with django_assert_num_queries(KEY + 1 + SEAL):
        assert rows.get(f"records/{uid}/").json()["seal"]["proof"] == "good"


def test_an_export_and_the_schema(rows, django_assert_num_queries):
    with django_assert_num_queries(KEY + 1):
        assert rows.get("policy/export/?format=yaml").status_code == 200
    with django_assert_num_queries(KEY):
        assert rows.get("policy/schema/").status_code == 200


DRAFT = 3  # the state with what is live, the layers, their rules


def test_an_import_that_changes_nothing(rows, django_assert_num_queries):
    exported = rows.get("policy/export/")
    tag = exported.headers["ETag"]
    with django_assert_num_queries(KEY + BLOCK + DRAFT):
        sent = {"document": exported.json()}
        assert rows.post("policy/import/", sent, If_Match=tag).json()["changed"] is False


# A layer with its rules; a document looked for and kept; a version and its number; the pointer; the
# record with its body, and whether the key still stands. Before all that, the new document is read
# once to be compiled.
STORED = 2 + 2 + 2 + 1 + 2 + 1
COMPILED = 1
UNDONE, AFTERWARDS = 1, 1  # the next record has to look anew which number is its own


@pytest.mark.parametrize("rules", [1, 50])
def test_an_import_of_one_layer_tried_and_then_done(rows, rules, django_assert_num_queries):
    deny = {"effect": "deny", "match": {"name": "x"}}
    sent = {"document": [{"name": "one more", "rules": [deny] * rules}], "mode": "add"}
    with django_assert_num_queries(KEY + BLOCK + DRAFT + STORED + COMPILED + UNDONE):
        assert rows.post("policy/import/", {**sent, "dry_run": True}).json()["changed"]
    with django_assert_num_queries(KEY + BLOCK + DRAFT + STORED + AFTERWARDS):
        assert rows.post("policy/import/", sent).json()["changed"]


def test_a_recipe(rows, django_assert_num_queries):
    with django_assert_num_queries(KEY + BLOCK + DRAFT + STORED + COMPILED):
        sent = {"allow": ["read_*"]}
        assert rows.post("policy/recipes/approval-allowlist/", sent).status_code == 200
