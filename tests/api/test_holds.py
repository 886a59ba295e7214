"""`audit/holds/`: records are kept beyond their time, and let go again."""

from toolpolicy.models import LegalHold

NEW = {"name": "case 7", "reason": "a claim", "filter": {"agent": "coder"}}


def test_a_hold_is_placed_listed_and_lifted_over_rest(api):
    response = api.post("audit/holds/", NEW)
    made = response.json()
    assert response.status_code == 201
    assert {name: made[name] for name in NEW} == NEW
    assert (made["created_by"], made["lifted_at"], made["lifted_by"]) == ("everything", None, "")
    other = api.post("audit/holds/", {**NEW, "name": "case 8"}).json()
    lifted = api.post(f"audit/holds/{made['pk']}/lift/").json()
    assert (lifted["lifted_by"], bool(lifted["lifted_at"])) == ("everything", True)
    for query, expected in (
        ("", [other["pk"], made["pk"]]),
        ("?lifted=false", [other["pk"]]),
        ("?name=case+7", [made["pk"]]),
    ):
        found = api.get(f"audit/holds/{query}").json()["results"]
        assert [one["pk"] for one in found] == expected
    assert api.post("audit/holds/9/lift/").status_code == 404


def test_a_fault_of_the_filter_is_named_at_its_place_over_rest(api):
    response = api.post("audit/holds/", {**NEW, "filter": {"kind": "decisions"}})
    assert response.status_code == 422
    assert [one["pointer"] for one in response.json()["errors"]] == ["/filter/kind"]


def test_reading_and_placing_are_scopes_of_their_own(key_with):
    reader, writer = key_with("audit:read"), key_with("audit:write")
    assert reader.get("audit/holds/").status_code == 200
    assert reader.post("audit/holds/", NEW).status_code == 403
    assert writer.get("audit/holds/").status_code == 403
    assert writer.post("audit/holds/", NEW).status_code == 201


def test_a_key_bound_to_a_context_places_and_lifts_no_holds(api, key_with):
    bound = key_with("audit:write", pinned_context={"agent": "coder"})
    placed = api.post("audit/holds/", NEW).json()
    for path, sent in (("audit/holds/", NEW), (f"audit/holds/{placed['pk']}/lift/", None)):
        refused = bound.post(path, sent)
        assert (refused.status_code, refused.json()["code"]) == (403, "pinned_context")
    assert LegalHold.objects.standing().count() == 1
