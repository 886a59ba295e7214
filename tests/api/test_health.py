"""`healthz`, `readyz`: what probes are told."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from tests.audit.logs import write_records
from toolpolicy.audit import triggers

BOTH = pytest.mark.parametrize("root", ["/", "/api/v1/"])


def fail(*_args, **_kwargs):
    raise OperationalError("could not connect to secret.example as admin")


@BOTH
def test_a_server_is_alive_without_its_database(stranger, monkeypatch, root):
    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", fail)
        response = stranger.get(f"{root}healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@BOTH
def test_a_server_with_all_it_needs_is_ready(api, stranger, root):
    response = stranger.get(f"{root}readyz")
    assert response.status_code == 200
    assert response.json() == {
        "ready": True,
        "checks": {"database": "ok", "policy": "ok", "triggers": "ok", "seals": "ok"},
    }


def not_ready(stranger):
    response = stranger.get("/readyz")
    assert (response.status_code, response.json()["ready"]) == (503, False)
    return response


def test_without_a_policy_a_server_is_not_ready(stranger):
    checks = not_ready(stranger).json()["checks"]
    assert checks["policy"] == "no policy is live; run `manage.py setup`"
    assert checks["database"] == "ok"


def test_without_its_triggers_a_server_is_not_ready(api, stranger, monkeypatch):
    gone = triggers.wanted(connection)[0]
    fault = triggers.TriggerFault(triggers.Wrong.MISSING, "it is gone", gone)
    monkeypatch.setattr(triggers, "faults", lambda _: [fault])
    assert "1 triggers" in not_ready(stranger).json()["checks"]["triggers"]


def test_with_altered_or_foreign_triggers_a_server_is_not_ready(api, stranger, monkeypatch):
    wrong = (triggers.Wrong.FOREIGN, triggers.Wrong.ALTERED, triggers.Wrong.ALTERED)
    found = [triggers.TriggerFault(one, "") for one in wrong]
    monkeypatch.setattr(triggers, "faults", lambda _: found)
    assert not_ready(stranger).json()["checks"]["triggers"] == (
        "2 triggers that protect records were altered, 1 triggers or rules on their tables are "
        "foreign; see `manage.py check --database default`"
    )


def test_without_its_database_a_server_is_not_ready_and_gives_nothing_away(stranger, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", fail)
        response = not_ready(stranger)
    assert set(response.json()["checks"].values()) == {"the database does not answer"}
    assert b"secret" not in response.content


def test_a_dropped_trigger_is_noticed(transactional_db, api, stranger):
    with triggers.suspended(connection):
        assert "do not stand" in not_ready(stranger).json()["checks"]["triggers"]
    assert stranger.get("/readyz").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_only_read(stranger, path):
    assert stranger.post(path, {}).status_code == 405
    assert stranger.send("HEAD", path).status_code in (200, 503)


HOSTS = ["10.0.0.7:8000", "[2001:db8::7]:8000", "balancer.example", "a_b", ""]


@BOTH
@pytest.mark.parametrize("name", ["healthz", "readyz"])
@pytest.mark.parametrize("host", HOSTS)
def test_probes_are_answered_by_whatever_name_they_ask(api, stranger, settings, root, name, host):
    settings.ALLOWED_HOSTS = ["policy.example.com"]
    response = stranger.get(f"{root}{name}", Host=host)
    assert response.status_code == 200
    assert response.headers["Content-Length"] == str(len(response.content))


@pytest.mark.parametrize(
    "path", ["/admin/login/", "/api/v1/policy/", "/healthz/", "/docs/reasons/", "/api/v1/schema/"]
)
@pytest.mark.parametrize("host", HOSTS)
def test_everything_else_is_answered_by_the_servers_own_name_alone(api, settings, path, host):
    settings.ALLOWED_HOSTS = ["policy.example.com"]
    assert api.http.get(path, headers={"Host": host}).status_code == 400
    asked = api.http.get(path, headers={"Host": "policy.example.com"})
    assert asked.status_code != 400


def test_a_server_whose_records_wait_too_long_for_their_seal_is_not_ready(stranger, monkeypatch):
    write_records(1)
    later = timezone.now() + timedelta(seconds=61)
    monkeypatch.setattr(timezone, "now", lambda: later)
    told = not_ready(stranger).json()["checks"]["seals"]
    assert told.startswith("the oldest record that is not sealed waits for 61 s")
