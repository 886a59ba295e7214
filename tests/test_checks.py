"""System checks: each has its id and its remedy, and right settings meet none."""

from dataclasses import replace

import pytest
from django.core.checks import run_checks

from toolpolicy.checks import SETTINGS_TAG, unknown_variables
from toolpolicy.conf import setting_rules
from toolpolicy.engine.grades import Grade


def found(*, deploy: bool = False) -> dict[str, str]:
    """Return our messages by id, each with its hint."""
    ours = {}
    for message in run_checks(include_deployment_checks=deploy):
        if message.id is not None and message.id.startswith("toolpolicy."):
            ours[message.id] = f"{message.msg}: {message.hint}"
    return ours


def test_right_settings_meet_no_check(monkeypatch, settings):
    monkeypatch.delenv("WEB_CONCURRENCY", raising=False)
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_log=True)
    assert found(deploy=True) == {}


WRONG = {
    "trusted_proxies": -1,
    "unregistered_tools": "deny",
    "max_body_bytes": True,
    "max_batch_bytes": 1.5e6,
    "max_import_bytes": None,
    "key_env": "li_ve",
    "idempotency_seconds": 0,
    "default_key_days": "90",
    "sign_in_failures": 0,
    "sign_in_minutes": 1441,
    "seal_in_process": 1,
    "seal_heartbeat_minutes": 0,
    "checkpoint_seconds": 0,
    "checkpoint_file": "here.jsonl",
    "checkpoint_log": "1",
    "checkpoint_url": "http://keep.example/",
    "checkpoint_networks": ["10.0.0.0/8"],
    "stream_file": "here.jsonl",
    "retention_days": 0,
    "retention_by_kind": (("listing", 200, 1),),
    "prune_in_worker": "no",
    **dict.fromkeys((f"changed_{grade}" for grade in Grade), "accept"),
}


def test_every_setting_is_tried_with_a_wrong_value():
    assert set(WRONG) == {name for name, _, _ in setting_rules()}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_set_in_python_is_an_error_that_names_its_variable(settings, name):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, **{name: WRONG[name]})
    message = found()["toolpolicy.E001"]
    assert message.startswith(f"TOOLPOLICY_{name.upper()} is `{WRONG[name]}`: it may be ")


def test_a_batch_smaller_than_one_request_is_an_error(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, max_body_bytes=4096, max_batch_bytes=2048)
    assert "TOOLPOLICY_MAX_BATCH_BYTES is `2048`" in found()["toolpolicy.E002"]


def test_a_server_of_checkpoints_outside_named_networks_is_an_error(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_url="https://keep.example/")
    assert "TOOLPOLICY_CHECKPOINT_NETWORKS is not" in found()["toolpolicy.E002"]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"retention_days": 182}, "TOOLPOLICY_RETENTION_DAYS is `182`"),
        (
            {"retention_by_kind": (("decision", 400), ("listing", 30))},
            "TOOLPOLICY_RETENTION_BY_KIND, listing is `30`",
        ),
    ],
)
def test_records_kept_for_less_than_six_months_are_an_error(settings, values, named):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, **values)
    message = found()["toolpolicy.E006"]
    assert message.startswith(named)
    assert "give 183 days or more" in message


@pytest.mark.parametrize("kind", ["decisions", "prune", "rotation", "repair"])
def test_a_retention_of_no_kind_that_is_ever_deleted_is_an_error(settings, kind):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, retention_by_kind=((kind, 400),))
    assert f"names `{kind}`" in found()["toolpolicy.E007"]


def test_a_seal_key_that_is_none_is_an_error(settings):
    settings.TOOLPOLICY_SEAL_KEY = "5e" * 31
    assert "TOOLPOLICY_SEAL_KEY is no key" in found()["toolpolicy.E005"]


def test_a_misspelt_setting_is_an_error_that_names_the_right_one(monkeypatch):
    monkeypatch.setenv("TOOLPOLICY_UNREGISTERED_TOOL", "deny")
    message = found()["toolpolicy.E003"]
    assert "did you mean `TOOLPOLICY_UNREGISTERED_TOOLS`?" in message


def test_a_variable_that_resembles_no_setting_is_a_warning(monkeypatch):
    monkeypatch.setenv("TOOLPOLICY_COLOUR", "green")
    assert "`TOOLPOLICY_COLOUR` is no setting" in found()["toolpolicy.W001"]


def test_what_a_cluster_sets_by_itself_for_a_service_stops_nothing():
    injected = ("SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_8000_TCP", "PORT_8000_TCP_ADDR")
    judged = unknown_variables({f"TOOLPOLICY_{name}": "x" for name in injected})
    assert {message.id for message in judged} == {"toolpolicy.W001"}


def test_every_setting_is_a_known_variable():
    names = [variable for _, variable, _ in setting_rules()]
    assert unknown_variables(dict.fromkeys([*names, "TOOLPOLICY_DEBUG", "HOME"], "x")) == []


@pytest.mark.parametrize("key", ["short", "a" * 60, "django-insecure-" + "0123456789" * 5])
def test_a_key_that_can_be_guessed_is_an_error_outside_development(settings, key):
    settings.SECRET_KEY = key
    assert "SECRET_KEY can be guessed" in found()["toolpolicy.E004"]
    settings.DEBUG = True
    assert "toolpolicy.E004" not in found()


def test_several_workers_on_sqlite_are_a_warning_when_deploying(settings, monkeypatch):
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    sqlite = {"ENGINE": "django.db.backends.sqlite3", "NAME": "x"}
    monkeypatch.setitem(settings.DATABASES, "default", sqlite)
    assert "toolpolicy.W002" not in found()
    assert "WEB_CONCURRENCY is `4`" in found(deploy=True)["toolpolicy.W002"]
    monkeypatch.setitem(sqlite, "ENGINE", "django.db.backends.postgresql")
    assert "toolpolicy.W002" not in found(deploy=True)


def test_a_transaction_for_each_request_is_an_error(settings, monkeypatch):
    assert "toolpolicy.E008" not in found()
    monkeypatch.setitem(settings.DATABASES["default"], "ATOMIC_REQUESTS", True)
    assert "no decision could be answered" in found()["toolpolicy.E008"]


def test_the_checks_of_settings_share_a_tag_that_the_server_runs(settings):
    settings.SECRET_KEY = "short"
    assert [message.id for message in run_checks(tags=[SETTINGS_TAG])] == ["toolpolicy.E004"]
