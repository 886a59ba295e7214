"""The product's own settings: one frozen value, with what each setting may be.

`project.env` builds the value from the environment, `toolpolicy.checks` judges it, everything
else reads it through `conf()`. A setting is declared once, here: its environment variable is
`TOOLPOLICY_` and its name in capitals.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, get_type_hints

from django.conf import settings

from toolpolicy.setting_rules import (
    Choice,
    DaysByKind,
    FilePath,
    HttpsUrl,
    KeyWord,
    Networks,
    SettingRule,
    Switch,
    Whole,
)

PREFIX = "TOOLPOLICY_"
KIB = 1024
MIB = 1024 * KIB
# Six months: what laws on logs of AI systems ask for.
LEAST_RETENTION_DAYS = 183
LONGEST_RETENTION_DAYS = 36_500


class UnregisteredTools(StrEnum):
    """What a call to a tool that the registry does not know meets."""

    EVALUATE = "evaluate"
    REQUIRE_APPROVAL = "require_approval"
    DENY = "deny"


class ChangedTools(StrEnum):
    """What a tool meets whose declaration changed since its review, by the grade of the change."""

    ACCEPT = "accept"
    CHANGED = "changed"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicySettings:
    """The settings of the product, each with its default."""

    trusted_proxies: Annotated[int, Whole(0, 10)] = 0
    """Reverse proxies in front of the server, counted from it outwards; they name the caller."""
    unregistered_tools: Annotated[UnregisteredTools, Choice(UnregisteredTools)] = (
        UnregisteredTools.EVALUATE
    )
    max_body_bytes: Annotated[int, Whole(KIB, 64 * MIB)] = 256 * KIB
    max_batch_bytes: Annotated[int, Whole(KIB, 64 * MIB)] = 2 * MIB
    max_import_bytes: Annotated[int, Whole(KIB, 256 * MIB)] = 20 * MIB
    key_env: Annotated[str, KeyWord()] = "live"
    """The word in every new API key that tells environments apart: `tp_live_…`."""
    idempotency_seconds: Annotated[int, Whole(1, 86_400)] = 300
    """How long a repeated `Idempotency-Key` gets the recorded answer again."""
    default_key_days: Annotated[int, Whole(1, 3650)] = 90
    """How long a new API key lasts when its maker names no end."""
    sign_in_failures: Annotated[int, Whole(1, 1000)] = 5
    """How often a sign-in may fail with one name from one address before somebody waits."""
    sign_in_minutes: Annotated[int, Whole(1, 1440)] = 15
    """For how long a failed sign-in counts."""
    changed_wording: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    """One setting for each grade of a change; `engine.grades` says what each grade is."""
    changed_optional_argument: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    changed_wider_argument: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    changed_narrower_argument: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    changed_loosened_hint: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.QUARANTINE
    """Refused by default: believed, such a hint can turn a rule's deny into a mere approval."""
    changed_tightened_hint: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    changed_moved_name: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    changed_other: Annotated[ChangedTools, Choice(ChangedTools)] = ChangedTools.CHANGED
    seal_in_process: Annotated[bool, Switch()] = True
    """Whether a server seals records itself when no worker does."""
    seal_heartbeat_minutes: Annotated[int, Whole(1, 1440)] = 5
    """An empty block is sealed when nothing was for so long: silence is a statement too."""
    checkpoint_seconds: Annotated[int, Whole(1, 86_400)] = 60
    """How long the sinks may lag behind the log while records are sealed."""
    checkpoint_file: Annotated[str, FilePath()] = ""
    """Where the newest blocks are kept outside the database; `{log}` becomes the log's id."""
    checkpoint_log: Annotated[bool, Switch()] = False
    checkpoint_url: Annotated[str, HttpsUrl()] = ""
    checkpoint_networks: Annotated[tuple[str, ...], Networks()] = ()
    """Where the server of `checkpoint_url` may be; it is reached nowhere else."""
    stream_file: Annotated[str, FilePath()] = ""
    """Where a worker writes every sealed record as a line, for what collects logs."""
    retention_days: Annotated[int, Whole(1, LONGEST_RETENTION_DAYS)] = 400
    """How long the texts of records are kept; never less than `LEAST_RETENTION_DAYS`."""
    retention_by_kind: Annotated[
        tuple[tuple[str, int], ...], DaysByKind(LONGEST_RETENTION_DAYS)
    ] = ()
    """Kinds of records that are kept for another number of days."""
    prune_in_worker: Annotated[bool, Switch()] = True
    """Whether the worker deletes once a day the texts whose time is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongSetting:
    """A setting's value that is not allowed, as its environment variable's owner sees it."""

    variable: str
    value: object
    allowed: str

    def __str__(self) -> str:
        return f"{self.variable} is `{self.value}`; it may be {self.allowed}"


def setting_rules() -> Iterator[tuple[str, str, SettingRule]]:
    """Yield every setting as (field name, environment variable, rule)."""
    hints = get_type_hints(ToolPolicySettings, include_extras=True)
    for field in fields(ToolPolicySettings):
        yield field.name, PREFIX + field.name.upper(), hints[field.name].__metadata__[0]


def wrong_settings(values: ToolPolicySettings) -> list[WrongSetting]:
    """Return every setting whose value is not allowed, in the order of declaration."""
    return [
        WrongSetting(variable=variable, value=getattr(values, name), allowed=rule.allowed)
        for name, variable, rule in setting_rules()
        if not rule.accepts(getattr(values, name))
    ]


def conf() -> ToolPolicySettings:
    """Return the product's settings as they stand now."""
    return settings.TOOLPOLICY
