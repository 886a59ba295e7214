"""The words of the rule language and of its answers, each an enum (SPEC §1, §3, §4, §9)."""

from enum import StrEnum
from typing import Final


class Surface(StrEnum):
    """Where a tool is judged."""

    CATALOG = "catalog"
    SEARCH = "search"
    CALL = "call"


class Effect(StrEnum):
    """What a matching rule of a strict layer does."""

    ALLOW = "allow"
    DENY = "deny"
    HIDE = "hide"
    REQUIRE_APPROVAL = "require_approval"
    AUTO_APPROVE = "auto_approve"

    @property
    def restricts(self) -> bool:
        """Tell restricting effects from permitting ones (SPEC §3)."""
        return self in (Effect.DENY, Effect.HIDE, Effect.REQUIRE_APPROVAL)


class Mode(StrEnum):
    """What a matching rule of an ordered layer says."""

    ON = "on"
    ASK = "ask"
    OFF = "off"
    AUTO = "auto"


class Combining(StrEnum):
    """How the rules of a layer combine."""

    DENY_OVERRIDES = "deny_overrides"
    LAST_MATCH = "last_match"


class Default(StrEnum):
    """What a strict layer says when no rule decides."""

    ALLOW = "allow"
    DENY = "deny"


class Scope(StrEnum):
    """How far a layer reaches; in the order of application, weakest first."""

    CONFIG = "config"
    AGENT = "agent"
    CHANNEL = "channel"
    SESSION = "session"

    @property
    def rank(self) -> int:
        """The place of this scope in the order of application."""
        return _SCOPE_RANKS[self]


_SCOPE_RANKS: Final = {word: rank for rank, word in enumerate(Scope)}


class Permission(StrEnum):
    """Levels of privilege; None < ReadOnly < Write < Execute < Dangerous."""

    NONE = "None"
    READ_ONLY = "ReadOnly"
    WRITE = "Write"
    EXECUTE = "Execute"
    DANGEROUS = "Dangerous"

    @property
    def rank(self) -> int:
        """The height of this level."""
        return _PERMISSION_RANKS[self]


_PERMISSION_RANKS: Final = {word: rank for rank, word in enumerate(Permission)}


class Category(StrEnum):
    """What a tool belongs to."""

    SYSTEM = "system"
    SKILL = "skill"


class Exposure(StrEnum):
    """Whether a tool is listed directly, found by search only, or neither."""

    DIRECT = "direct"
    DEFERRED = "deferred"
    HIDDEN = "hidden"


class SideEffect(StrEnum):
    """The seven declared side effects."""

    READ_ONLY = "read_only"
    WRITES_FILES = "writes_files"
    NETWORK = "network"
    INSTALLS_DEPENDENCIES = "installs_dependencies"
    DESTRUCTIVE = "destructive"
    EXTERNAL_SERVICE = "external_service"
    PAYMENT = "payment"


class Hint(StrEnum):
    """The declared hints; each is true, false or unknown."""

    READ_ONLY = "read_only"
    DESTRUCTIVE = "destructive"
    IDEMPOTENT = "idempotent"
    OPEN_WORLD = "open_world"
    NEEDS_APPROVAL = "needs_approval"
    CACHEABLE_APPROVAL = "cacheable_approval"


class Approval(StrEnum):
    """The published fold of approvals; required beats waived beats default."""

    DEFAULT = "default"
    WAIVED = "waived"
    REQUIRED = "required"

    @property
    def rank(self) -> int:
        """The strength of this value in the fold."""
        return _APPROVAL_RANKS[self]


_APPROVAL_RANKS: Final = {word: rank for rank, word in enumerate(Approval)}


class Outcome(StrEnum):
    """The answer in one word: the first three on calls, the last three (and deny) on listings."""

    DENY = "deny"
    NEEDS_APPROVAL = "needs_approval"
    ALLOW = "allow"
    HIDE = "hide"
    LIST = "list"


class ReasonCode(StrEnum):
    """Why an answer is what it is; the first that applies, in this order (SPEC §9)."""

    NAME_REFUSED = "name_refused"
    TOOL_AMBIGUOUS = "tool_ambiguous"
    TOOL_RETIRED = "tool_retired"
    TOOL_QUARANTINED = "tool_quarantined"
    TOOL_UNREGISTERED = "tool_unregistered"
    DISPATCHER_BAD_TARGET = "dispatcher_bad_target"
    DISPATCHER_UNKNOWN_TARGET = "dispatcher_unknown_target"
    DISPATCHER_CYCLE = "dispatcher_cycle"
    DISPATCHER_TOO_DEEP = "dispatcher_too_deep"
    FROZEN = "frozen"
    RULE_DENIED = "rule_denied"
    LAYER_DEFAULT = "layer_default"
    RULE_OFF = "rule_off"
    TOOL_DEFAULT_OFF = "tool_default_off"
    HIDDEN = "hidden"
    NEEDS_APPROVAL = "needs_approval"
    ALLOWED = "allowed"
    NO_POLICY = "no_policy"
    STALE_POLICY = "stale_policy"
    AUDIT_UNAVAILABLE = "audit_unavailable"
    INTERNAL = "internal"
