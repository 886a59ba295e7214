"""Settings from the environment: what they become, and what is said of those that are wrong."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from project.env import Environment
from toolpolicy.conf import (
    ChangedTools,
    ToolPolicySettings,
    UnregisteredTools,
    conf,
    setting_rules,
    wrong_settings,
)
from toolpolicy.engine.grades import Grade

SECRET_KIND: dict[str, Any] = {
    "make": lambda: secrets.token_urlsafe(64),
    "advice": "random characters",
}


def read(tmp_path: Path, **variables: str) -> Environment:
    return Environment(variables, tmp_path)


def faults(environment: Environment) -> str:
    with pytest.raises(ImproperlyConfigured) as caught:
        environment.verify()
    return str(caught.value)


def test_an_empty_environment_gives_the_documented_defaults(tmp_path):
    environment = read(tmp_path)
    assert environment.toolpolicy() == ToolPolicySettings(
        trusted_proxies=0,
        unregistered_tools=UnregisteredTools.EVALUATE,
        max_body_bytes=262_144,
        max_batch_bytes=2_097_152,
        max_import_bytes=20_971_520,
        key_env="live",
        idempotency_seconds=300,
        default_key_days=90,
        sign_in_failures=5,
        sign_in_minutes=15,
        seal_in_process=True,
        seal_heartbeat_minutes=5,
        checkpoint_seconds=60,
        checkpoint_file="",
        checkpoint_log=False,
        checkpoint_url="",
        checkpoint_networks=(),
        stream_file="",
        retention_days=400,
        retention_by_kind=(),
        prune_in_worker=True,
    )
    assert environment.flag("TOOLPOLICY_DEBUG") is False
    environment.verify()


def test_every_setting_has_a_default_that_is_allowed():
    assert wrong_settings(ToolPolicySettings()) == []


def test_the_product_reads_the_settings_of_the_project(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, key_env="staging")
    assert conf().key_env == "staging"


def test_an_empty_variable_counts_as_not_set(tmp_path):
    environment = read(tmp_path, TOOLPOLICY_KEY_ENV="", TOOLPOLICY_TRUSTED_PROXIES=" ")
    assert environment.toolpolicy() == ToolPolicySettings()
    environment.verify()


GOOD = {
    "TOOLPOLICY_TRUSTED_PROXIES": ("2", 2),
    "TOOLPOLICY_UNREGISTERED_TOOLS": ("deny", UnregisteredTools.DENY),
    "TOOLPOLICY_MAX_BODY_BYTES": ("1024", 1024),
    "TOOLPOLICY_MAX_BATCH_BYTES": ("4194304", 4_194_304),
    "TOOLPOLICY_MAX_IMPORT_BYTES": (" 1048576 ", 1_048_576),
    "TOOLPOLICY_KEY_ENV": ("staging2", "staging2"),
    "TOOLPOLICY_IDEMPOTENCY_SECONDS": ("1", 1),
    "TOOLPOLICY_DEFAULT_KEY_DAYS": ("3650", 3650),
    "TOOLPOLICY_SIGN_IN_FAILURES": ("1", 1),
    "TOOLPOLICY_SIGN_IN_MINUTES": ("60", 60),
    "TOOLPOLICY_SEAL_IN_PROCESS": ("off", False),
    "TOOLPOLICY_SEAL_HEARTBEAT_MINUTES": ("1", 1),
    "TOOLPOLICY_CHECKPOINT_SECONDS": ("1", 1),
    "TOOLPOLICY_CHECKPOINT_FILE": ("/var/log/{log}.jsonl", "/var/log/{log}.jsonl"),
    "TOOLPOLICY_CHECKPOINT_LOG": ("1", True),
    "TOOLPOLICY_CHECKPOINT_URL": ("https://keep.example/log?a=b", "https://keep.example/log?a=b"),
    "TOOLPOLICY_CHECKPOINT_NETWORKS": (
        "10.0.0.0/8, 2001:db8::/32",
        ("10.0.0.0/8", "2001:db8::/32"),
    ),
    "TOOLPOLICY_STREAM_FILE": ("/var/log/records.jsonl", "/var/log/records.jsonl"),
    "TOOLPOLICY_RETENTION_DAYS": ("183", 183),
    "TOOLPOLICY_RETENTION_BY_KIND": ("listing=200, key=800", (("listing", 200), ("key", 800))),
    "TOOLPOLICY_PRUNE_IN_WORKER": ("0", False),
    **{f"TOOLPOLICY_CHANGED_{grade.upper()}": ("accept", ChangedTools.ACCEPT) for grade in Grade},
}
BAD = {
    "TOOLPOLICY_TRUSTED_PROXIES": ["-1", "11", "two", "1.0", "\u0661"],
    "TOOLPOLICY_UNREGISTERED_TOOLS": ["allow", "Deny", "deny,evaluate"],
    "TOOLPOLICY_MAX_BODY_BYTES": ["1023", "256k", "1e6", "9" * 5000],
    "TOOLPOLICY_MAX_BATCH_BYTES": ["0", "67108865"],
    "TOOLPOLICY_MAX_IMPORT_BYTES": ["1_000_000", "268435457"],
    "TOOLPOLICY_KEY_ENV": ["Live", "li_ve", "a" * 17, "live\n!"],
    "TOOLPOLICY_IDEMPOTENCY_SECONDS": ["0", "86401"],
    "TOOLPOLICY_DEFAULT_KEY_DAYS": ["0", "3651"],
    "TOOLPOLICY_SIGN_IN_FAILURES": ["0", "1001"],
    "TOOLPOLICY_SIGN_IN_MINUTES": ["0", "1441"],
    "TOOLPOLICY_SEAL_IN_PROCESS": ["2", "maybe"],
    "TOOLPOLICY_SEAL_HEARTBEAT_MINUTES": ["0", "1441"],
    "TOOLPOLICY_CHECKPOINT_SECONDS": ["0", "86401"],
    "TOOLPOLICY_CHECKPOINT_FILE": ["checkpoints.jsonl", "./x"],
    "TOOLPOLICY_CHECKPOINT_LOG": ["2", "stderr"],
    "TOOLPOLICY_CHECKPOINT_URL": [
        *("http://keep.example/", "keep.example", "https://", "https://u:p@keep.example/"),
        *("https://[::1/", "https://keep.example:0/", "https://keep.example/#a"),
    ],
    "TOOLPOLICY_STREAM_FILE": ["records.jsonl", "./x"],
    "TOOLPOLICY_RETENTION_DAYS": ["0", "36501", "1y"],
    "TOOLPOLICY_RETENTION_BY_KIND": [
        *("listing", "listing=", "listing=0", "listing=36501", "listing=1,listing=2", "=200"),
        *("Listing=200", "listing=200;decision=800", "listing=200,"),
    ],
    "TOOLPOLICY_PRUNE_IN_WORKER": ["2", "daily"],
    "TOOLPOLICY_CHECKPOINT_NETWORKS": ["10.0.0.0/33", "10.0.0.1/8", "keep.example", ","],
    **{f"TOOLPOLICY_CHANGED_{grade.upper()}": ["quarantined", "Accept"] for grade in Grade},
}


def test_every_setting_is_tried_with_good_and_bad_values():
    variables = {variable for _, variable, _ in setting_rules()}
    assert variables == set(GOOD) == set(BAD)


@pytest.mark.parametrize("variable", GOOD)
def test_a_good_value_is_taken(tmp_path, variable):
    text, value = GOOD[variable]
    environment = read(tmp_path, **{variable: text})
    name = variable.removeprefix("TOOLPOLICY_").lower()
    assert getattr(environment.toolpolicy(), name) == value
    environment.verify()


@pytest.mark.parametrize(
    ("variable", "text"), [(variable, text) for variable in BAD for text in BAD[variable]]
)
def test_a_bad_value_is_refused_with_its_name_its_value_and_what_it_may_be(
    tmp_path, variable, text
):
    environment = read(tmp_path, **{variable: text})
    environment.toolpolicy()
    message = faults(environment)
    allowed = {variable: rule.allowed for _, variable, rule in setting_rules()}[variable]
    assert f"{variable} is `{text}`; it may be {allowed}" in message


def test_all_faults_are_named_together(tmp_path):
    environment = read(tmp_path, TOOLPOLICY_DEBUG="maybe", TOOLPOLICY_KEY_ENV="A", DATABASE_URL="x")
    environment.flag("TOOLPOLICY_DEBUG")
    environment.database("DATABASE_URL", default="")
    environment.secret("SECRET_KEY", **SECRET_KIND, kept_in=None)
    environment.toolpolicy()
    message = faults(environment)
    for variable in ("TOOLPOLICY_DEBUG", "DATABASE_URL", "SECRET_KEY", "TOOLPOLICY_KEY_ENV"):
        assert f"\n  {variable} " in message


@pytest.mark.parametrize(
    ("text", "on"), [("1", True), ("TRUE", True), ("off", False), ("0", False)]
)
def test_a_switch_understands_the_usual_words(tmp_path, text, on):
    assert read(tmp_path, TOOLPOLICY_DEBUG=text).flag("TOOLPOLICY_DEBUG") is on


def test_a_list_is_split_at_commas(tmp_path):
    environment = read(tmp_path, TOOLPOLICY_ALLOWED_HOSTS=" a.example, b.example ,,")
    assert environment.words("TOOLPOLICY_ALLOWED_HOSTS") == ["a.example", "b.example"]
    assert environment.words("OTHER", default=("localhost",)) == ["localhost"]


def test_a_secret_comes_from_its_variable_or_its_file(tmp_path):
    (tmp_path / "key").write_text("from the file\n", encoding="utf-8")
    from_file = {"SECRET_KEY_FILE": str(tmp_path / "key")}
    assert (
        read(tmp_path, **from_file).secret("SECRET_KEY", **SECRET_KIND, kept_in=None)
        == "from the file"
    )
    both = read(tmp_path, SECRET_KEY="from the variable", **from_file)
    assert both.secret("SECRET_KEY", **SECRET_KIND, kept_in=None) == "from the variable"


def test_a_missing_or_empty_secret_file_is_a_fault(tmp_path):
    (tmp_path / "empty").touch()
    for name, complaint in (("absent", "cannot be read"), ("empty", "is empty")):
        environment = read(tmp_path, SECRET_KEY_FILE=str(tmp_path / name))
        environment.secret("SECRET_KEY", **SECRET_KIND, kept_in=None)
        assert complaint in faults(environment)


def test_a_development_secret_is_made_once_and_only_its_owner_reads_it(tmp_path):
    kept = tmp_path / ".secret_key"
    first = read(tmp_path).secret("SECRET_KEY", **SECRET_KIND, kept_in=kept)
    assert read(tmp_path).secret("SECRET_KEY", **SECRET_KIND, kept_in=kept) == first
    assert len(first) >= 50
    assert kept.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [kept]
