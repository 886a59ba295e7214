"""`metrics`: figures for who watches the server."""

import pytest
from django.test import Client

from tests.audit.logs import sealed_log, write_records

pytestmark = pytest.mark.django_db


def figures() -> dict[str, float]:
    answer = Client().get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    lines = [line for line in answer.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_the_metrics_say_how_far_the_log_is_sealed():
    sealed_log(2)
    write_records(3)
    found = figures()
    assert found["toolpolicy_sealed_block"] == 1
    assert found["toolpolicy_unsealed_records"] == 3
    assert 0 < found["toolpolicy_sealed_lag_seconds"] < 60
    assert found["toolpolicy_sealing_refused"] == 0


def test_the_metrics_say_when_the_log_cannot_be_sealed(settings):
    sealed_log(1)
    settings.TOOLPOLICY_SEAL_KEY = "5f" * 32
    assert figures()["toolpolicy_sealing_refused"] == 1


def test_the_metrics_are_only_read():
    assert Client().post("/metrics").status_code == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("10.0.0.7:8000", 200), ("[2001:db8::7]", 200), ("policy.example.com", 200)),
        *(("rebound.example", 400), ("10.0.0.7.rebound.example", 400), ("", 400), ("0x7f.1", 400)),
    ],
)
def test_the_metrics_are_read_by_address_or_by_the_servers_own_name(settings, host, status):
    settings.ALLOWED_HOSTS = ["policy.example.com"]
    assert Client().get("/metrics", headers={"Host": host}).status_code == status
