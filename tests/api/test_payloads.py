"""`records/{uid}/payload/`: masked values are given only when asked for, and each look recorded."""

import json
from uuid import uuid4

import pytest

from toolpolicy.audit.commitments import opens
from toolpolicy.engine.pointers import Found, resolve
from toolpolicy.models import MaskedValue, Record, RecordBody

QUESTION = {"surface": "call", "tool": "send", "arguments": {"password": "hunter2", "to": "x"}}


@pytest.fixture
def decided(api):
    return api.post("decisions/", QUESTION).json()["decision_id"]


def test_a_record_is_read_without_its_masked_values(api, decided):
    read = api.get(f"records/{decided}/").json()
    assert read["body"]["asked"]["arguments"]["to"] == "x"
    assert "hunter2" not in json.dumps(read)
    assert not Record.objects.filter(kind="payload_read").exists()


def test_masked_values_are_given_with_what_it_takes_to_check_them(api, decided):
    read = api.post(f"records/{decided}/payload/", {"why": "case 7"}).json()
    assert read["body"]["asked"]["arguments"] == QUESTION["arguments"]
    [masked] = read["masked"]
    assert (masked["pointer"], masked["missing"]) == ("/asked/arguments/password", None)
    text = json.loads(Record.objects.get(uid=decided).body.text)
    said = resolve(masked["pointer"], text)
    assert isinstance(said, Found)
    assert opens(said.value, salt=masked["salt"], value="hunter2")
    made = Record.objects.get(kind="payload_read")
    assert (made.client, made.object_label) == (api.client, decided)
    assert json.loads(made.body.text)["why"] == "asked over REST: case 7"


@pytest.mark.parametrize("sent", [{"because": "x"}, {"why": 1}, {"why": "x" * 501}])
def test_a_reason_that_cannot_be_one_shows_nothing(api, decided, sent):
    assert api.post(f"records/{decided}/payload/", sent).status_code == 422
    assert not Record.objects.filter(kind="payload_read").exists()


def test_an_erased_value_is_said_to_be_missing(api, decided):
    MaskedValue.objects.all().delete()
    read = api.post(f"records/{decided}/payload/", {}).json()
    assert read["masked"] == [
        {"pointer": "/asked/arguments/password", "salt": None, "missing": "was erased"}
    ]


def test_looking_is_a_right_of_its_own_and_only_at_ones_own_records(api, key_with, decided):
    assert key_with("records:read").post(f"records/{decided}/payload/", {}).status_code == 403
    other = key_with("payloads:read").post(f"records/{decided}/payload/", {})
    assert other.status_code == api.post(f"records/{uuid4()}/payload/", {}).status_code == 404
    assert not Record.objects.filter(kind="payload_read").exists()


def test_a_record_without_its_text_has_no_payload(api, decided):
    RecordBody.objects.filter(record__uid=decided).delete()
    assert api.post(f"records/{decided}/payload/", {}).status_code == 404


def test_a_repeat_is_known_by_a_keyed_digest(api):
    first = api.post("decisions/", QUESTION, Idempotency_Key="k").json()
    assert api.post("decisions/", QUESTION, Idempotency_Key="k").json() == first
    record = Record.objects.get(uid=first["decision_id"])
    assert record.request_digest.startswith("hmac:")
    other = {**QUESTION, "arguments": {}}
    assert api.post("decisions/", other, Idempotency_Key="k").status_code == 422


def test_masking_of_families_and_tools_is_read_and_changed(api):
    family = api.post("families/", {"name": "mail", "masking": {"keys": ["iban"]}}).json()
    assert family["masking"] == {"keys": ["iban"]}
    sent = {"version": family["version"], "masking": {"mode": "digest"}}
    family = api.patch(f"families/{family['pk']}/", {**sent, "kind": "toolpack"}).json()
    assert family["masking"] == {"mode": "digest"}
    tool = api.post("tools/", {"family": "mail", "subject": {"name": "send"}}).json()
    assert tool["masking"] == {}
    change = {"version": tool["version"], "masking": {"mode": "masked", "pointers": ["/to"]}}
    assert api.patch(f"tools/{tool['pk']}/", change).json()["masking"] == change["masking"]
    decided = api.post("decisions/", QUESTION).json()["decision_id"]
    masked = api.get(f"records/{decided}/").json()["body"]["masked"]
    assert [one["pointer"] for one in masked] == [
        "/asked/arguments/password",
        "/asked/arguments/to",
    ]


@pytest.mark.parametrize("masking", [[], {"mode": "x"}, {"keys": [""]}, {"pointers": ["x"]}])
def test_masking_that_means_nothing_is_refused_with_its_place(api, masking):
    made = api.post("families/", {"name": "mail", "masking": masking})
    assert made.status_code == 422
    assert made.json()["errors"][0]["pointer"].startswith("/masking")
