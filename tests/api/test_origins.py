"""Whose request it was: ids that callers may choose, addresses that they may not."""

import json
import re

import pytest

from toolpolicy.models import Record, RefusalCount
from toolpolicy.services.origins import client_address, counted_address

QUESTION = {"surface": "call", "tool": "x"}


@pytest.mark.parametrize("given", ["a", "A.b_c-1", "x" * 64])
def test_a_good_request_id_is_kept_and_repeated(api, given):
    response = api.post("decisions/", QUESTION, X_Request_ID=given)
    assert response.headers["X-Request-ID"] == given
    assert Record.objects.latest("id").request_id == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "é", "a;b", "../x", "a%0Ab"])
def test_any_other_request_id_is_replaced(api, given):
    response = api.post("decisions/", QUESTION, X_Request_ID=given)
    fresh = response.headers["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", fresh)
    assert Record.objects.latest("id").request_id == fresh


def test_every_response_has_a_request_id(stranger, api):
    for path in ("/healthz", "/admin/login/", "/docs/reasons/", "decisions/", "/nothing/"):
        assert re.fullmatch("[0-9a-f]{32}", stranger.get(path).headers["X-Request-ID"])


def recorded_address(api, **headers):
    record = Record.objects.get(
        uid=api.post("decisions/", QUESTION, **headers).json()["decision_id"]
    )
    return json.loads(record.body.text)["origin"]["address"]


def test_a_forwarded_address_counts_only_behind_trusted_proxies(api, settings):
    spoofed = {"X_Forwarded_For": "203.0.113.9, 198.51.100.7"}
    assert recorded_address(api, **spoofed) == "127.0.0.1"
    for hops, expected in ((1, "198.51.100.7"), (2, "203.0.113.9"), (3, "127.0.0.1")):
        settings.TOOLPOLICY = dataclass_with(settings.TOOLPOLICY, trusted_proxies=hops)
        assert recorded_address(api, **spoofed) == expected


def dataclass_with(value, **members):
    return type(value)(
        **{name: members.get(name, getattr(value, name)) for name in value.__dataclass_fields__}
    )


@pytest.mark.parametrize(
    ("remote", "forwarded", "hops", "expected"),
    [
        ("192.0.2.1", "", 0, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9", 0, "192.0.2.1"),
        ("192.0.2.1", "", 1, "192.0.2.1"),
        ("192.0.2.1", "6.6.6.6, 203.0.113.9", 1, "203.0.113.9"),
        ("192.0.2.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", 2, "203.0.113.9"),
        ("192.0.2.1", "203.0.113.9:4711", 1, "203.0.113.9"),
        ("192.0.2.1", "[2001:db8::1]:443", 1, "2001:db8::1"),
        ("192.0.2.1", "2001:DB8:0::1", 1, "2001:db8::1"),
        ("192.0.2.1", "unknown", 1, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9, <script>", 1, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9,", 1, "192.0.2.1"),
        ("::ffff:192.0.2.1", "", 0, "192.0.2.1"),
        ("fe80::1%eth0", "", 0, "fe80::1"),
        ("", "", 0, ""),
    ],
)
def test_addresses_are_read_from_the_nearest_hop_outwards(remote, forwarded, hops, expected):
    assert client_address(remote, forwarded, hops) == expected


def test_one_network_of_ipv6_is_counted_as_one():
    assert counted_address("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
    assert counted_address("192.0.2.1") == "192.0.2.1"
    assert counted_address("") == ""


def test_a_spoofed_address_gets_no_count_of_its_own(stranger):
    for number in range(3):
        stranger.post("decisions/", QUESTION, X_Forwarded_For=f"203.0.113.{number}")
    (row,) = RefusalCount.objects.all()
    assert (row.address, row.status, row.count) == ("127.0.0.1", 401, 3)
