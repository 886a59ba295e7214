"""System checks with stable ids: settings that are wrong, or surprising, are said before a start.

`E` stops every command and the server, `W` only says so. A new check gets the next free number.
"""

import difflib
import os
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from toolpolicy.audit import signing, triggers
from toolpolicy.audit.triggers import Wrong
from toolpolicy.conf import LEAST_RETENTION_DAYS, PREFIX, conf, setting_rules, wrong_settings

SETTINGS_TAG = "toolpolicy_settings"
# Read by the project's settings, beside those of `toolpolicy.conf`.
PROJECT_VARIABLES = frozenset(
    {
        *("TOOLPOLICY_ALLOWED_HOSTS", "TOOLPOLICY_CSRF_TRUSTED_ORIGINS", "TOOLPOLICY_DEBUG"),
        *("TOOLPOLICY_SEAL_KEY", "TOOLPOLICY_SEAL_KEY_FILE"),
    }
)
# Read by the tests: how many cases a law is tried on, and from which seed.
TEST_VARIABLES = frozenset({"TOOLPOLICY_LAW_CASES", "TOOLPOLICY_SEED"})
# So much alike, an unknown name is taken for a slip: what it meant to set stands at its default.
SLIP = 0.75
SHORTEST_SECRET = 50
FEWEST_CHARACTERS = 10
TRIGGER_IDS = {
    Wrong.MISSING: "toolpolicy.E101",
    Wrong.ALTERED: "toolpolicy.E101",
    Wrong.FOREIGN: "toolpolicy.E102",
}
TRIGGER_HINTS = {
    Wrong.MISSING: "a migration that rebuilds the table ends with "
    "toolpolicy.audit.triggers.install; find out what else happened to the table before the "
    "trigger is put back",
    Wrong.ALTERED: "find out who altered it and what happened to the table since, before it is "
    "dropped and put back; docs/operations.md says how",
    Wrong.FOREIGN: "nothing but what toolpolicy installs may act on what is written once; find out "
    "what it did before you drop it",
}
DAYS = "TOOLPOLICY_RETENTION_DAYS"
DAYS_BY_KIND = "TOOLPOLICY_RETENTION_BY_KIND"


@register(SETTINGS_TAG)
def check_values(**_: object) -> list[CheckMessage]:
    """E001 a setting has a value it may not have; E002 two settings contradict each other."""
    values = conf()
    faults: list[CheckMessage] = [
        Error(
            f"{wrong.variable} is `{wrong.value}`",
            hint=f"it may be {wrong.allowed}",
            id="toolpolicy.E001",
        )
        for wrong in wrong_settings(values)
    ]
    if values.checkpoint_url and not values.checkpoint_networks:
        faults.append(
            Error(
                "TOOLPOLICY_CHECKPOINT_URL is set and TOOLPOLICY_CHECKPOINT_NETWORKS is not",
                hint="name the networks in which that server may be; it is reached nowhere else",
                id="toolpolicy.E002",
            )
        )
    if not faults and values.max_batch_bytes < values.max_body_bytes:
        faults.append(
            Error(
                f"TOOLPOLICY_MAX_BATCH_BYTES is `{values.max_batch_bytes}`, less than "
                f"TOOLPOLICY_MAX_BODY_BYTES, `{values.max_body_bytes}`",
                hint="a batch holds several requests; raise the one or lower the other",
                id="toolpolicy.E002",
            )
        )
    return faults


@register(SETTINGS_TAG)
def check_names(**_: object) -> list[CheckMessage]:
    """E003 a variable's name is nearly a setting's; W001 a variable is no setting's."""
    return unknown_variables(os.environ)


def unknown_variables(variables: Mapping[str, str]) -> list[CheckMessage]:
    """Judge the names of all variables that start like ours.

    An unknown one that resembles none is only a warning: a cluster sets such variables by itself
    for a service of that name.
    """
    known = {variable.removeprefix(PREFIX) for _, variable, _ in setting_rules()}
    known |= {name.removeprefix(PREFIX) for name in PROJECT_VARIABLES | TEST_VARIABLES}
    names = {name.removeprefix(PREFIX) for name in variables if name.startswith(PREFIX)}
    faults: list[CheckMessage] = []
    for name in sorted(names - known):
        message = f"`{PREFIX}{name}` is no setting"
        alike = difflib.get_close_matches(name, known, n=1, cutoff=SLIP)
        if alike:
            hint = f"did you mean `{PREFIX}{alike[0]}`?"
            faults.append(Error(message, hint=hint, id="toolpolicy.E003"))
        else:
            hint = "unset it if it was meant as one; docs/operations.md lists the settings"
            faults.append(checks.Warning(message, hint=hint, id="toolpolicy.W001"))
    return faults


@register(SETTINGS_TAG)
def check_secret(**_: object) -> list[CheckMessage]:
    """E004 a server that is not for development signs with a key that can be guessed."""
    key = str(settings.SECRET_KEY)
    long_enough = len(key) >= SHORTEST_SECRET and len(set(key)) >= FEWEST_CHARACTERS
    if settings.DEBUG or (long_enough and not key.startswith("django-insecure-")):
        return []
    return [
        Error(
            "SECRET_KEY can be guessed: it is short, uniform or an example's",
            hint=f"give {SHORTEST_SECRET} or more random characters, for example from "
            '`python -c "import secrets; print(secrets.token_urlsafe(64))"`',
            id="toolpolicy.E004",
        )
    ]


@register(SETTINGS_TAG)
def check_seal_key(**_: object) -> list[CheckMessage]:
    """E005 the key that seals records is none."""
    if signing.is_seed(settings.TOOLPOLICY_SEAL_KEY):
        return []
    return [
        Error(
            f"{signing.VARIABLE} is no key",
            hint=f"give {signing.FORM}",
            id="toolpolicy.E005",
        )
    ]


@register(SETTINGS_TAG)
def check_retention(**_: object) -> list[CheckMessage]:
    """E006 records are kept too short; E007 a retention is of no kind that has one."""
    # The server's entry imports the checks before there are models.
    from toolpolicy.services.retention import PRUNED  # noqa: PLC0415

    values = conf()
    wrong = {wrong.variable for wrong in wrong_settings(values)}
    if wrong & {DAYS, DAYS_BY_KIND}:
        return []
    given = [(DAYS, values.retention_days)]
    given += [(f"{DAYS_BY_KIND}, {kind}", days) for kind, days in values.retention_by_kind]
    faults: list[CheckMessage] = [
        Error(
            f"{name} is `{days}`: records would be kept for less than six months",
            hint=f"give {LEAST_RETENTION_DAYS} days or more: laws on logs of AI ask for that",
            id="toolpolicy.E006",
        )
        for name, days in given
        if days < LEAST_RETENTION_DAYS
    ]
    return faults + [
        Error(
            f"{DAYS_BY_KIND} names `{kind}`, which is no kind of record that is ever deleted",
            hint=f"the kinds are {', '.join(sorted(PRUNED))}",
            id="toolpolicy.E007",
        )
        for kind, _ in values.retention_by_kind
        if kind not in PRUNED
    ]


@register(SETTINGS_TAG)
def check_transactions(**_: object) -> list[CheckMessage]:
    """E008 each request has a transaction: what it rolls back would take an answer's record."""
    if not settings.DATABASES["default"].get("ATOMIC_REQUESTS"):
        return []
    return [
        Error(
            "ATOMIC_REQUESTS is on for the default database: no decision could be answered",
            hint="an answer is given after its record was committed; take ATOMIC_REQUESTS away and "
            "mark the views that need it with `transaction.atomic`",
            id="toolpolicy.E008",
        )
    ]


@register(Tags.security, deploy=True)
def check_sinks(**_: object) -> list[CheckMessage]:
    """W003 no place outside the database knows the newest block. W004 one that it can swap."""
    values = conf()
    named = "{log}" in values.checkpoint_file
    if named and not values.checkpoint_url:
        return [
            checks.Warning(
                "the checkpoint file is named after the log: `{log}` in its path",
                hint="who renames the log in the database gets an empty file; give this server's "
                "file a name of its own",
                id="toolpolicy.W004",
            )
        ]
    if values.checkpoint_file or values.checkpoint_log or values.checkpoint_url:
        return []
    return [
        checks.Warning(
            "no checkpoint of the log is kept outside the database",
            hint="who holds the database and the key could rewrite the log unseen; set "
            "TOOLPOLICY_CHECKPOINT_FILE, TOOLPOLICY_CHECKPOINT_LOG or TOOLPOLICY_CHECKPOINT_URL",
            id="toolpolicy.W003",
        )
    ]


@register(Tags.security, deploy=True)
def check_workers(**_: object) -> list[CheckMessage]:
    """W002 several processes would write to one SQLite file."""
    workers = os.environ.get("WEB_CONCURRENCY", "1")
    on_sqlite = settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
    if not on_sqlite or workers in {"", "1"}:
        return []
    return [
        checks.Warning(
            f"WEB_CONCURRENCY is `{workers}` and the database is SQLite",
            hint="workers wait for each other's commits by sleeping; run one worker with threads, "
            "or use PostgreSQL through DATABASE_URL",
            id="toolpolicy.W002",
        )
    ]


@register(Tags.database)
def check_triggers(databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """E101 a trigger of a written-once table is missing or altered; E102 one on it is foreign.

    Says nothing of tables that no migration has made yet.
    """
    return [
        Error(fault.message, hint=TRIGGER_HINTS[fault.wrong], id=TRIGGER_IDS[fault.wrong])
        for alias in databases or ()
        for fault in triggers.faults(connections[alias])
    ]
