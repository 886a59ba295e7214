"""Every fixed word that a column may hold. Words of the language mirror the engine's enums."""

from collections.abc import Mapping
from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _


class Scope(models.TextChoices):
    """How far a layer reaches; weakest first."""

    CONFIG = "config", _("everywhere")
    AGENT = "agent", _("agents")
    CHANNEL = "channel", _("channels")
    SESSION = "session", _("sessions")


class Combining(models.TextChoices):
    """How the rules of a layer combine."""

    DENY_OVERRIDES = "deny_overrides", _("strict: a deny always wins")
    LAST_MATCH = "last_match", _("ordered: the last matching rule wins")


class Default(models.TextChoices):
    """What a strict layer says when no rule decides."""

    ALLOW = "allow", _("allow")
    DENY = "deny", _("deny")


class Effect(models.TextChoices):
    """What a rule of a strict layer does."""

    ALLOW = "allow", _("allow")
    DENY = "deny", _("deny")
    HIDE = "hide", _("hide from listings")
    REQUIRE_APPROVAL = "require_approval", _("require approval")
    AUTO_APPROVE = "auto_approve", _("approve automatically")


class Mode(models.TextChoices):
    """What a rule of an ordered layer says."""

    ON = "on", _("on: runs")
    ASK = "ask", _("ask: runs after approval")
    OFF = "off", _("off: neither listed nor callable")
    AUTO = "auto", _("auto: no opinion")


class FreezeKind(models.TextChoices):
    """What a freeze stops."""

    AGENT = "agent", _("agent")
    CHANNEL = "channel", _("channel")
    FAMILY = "family", _("tool family")
    TOOL = "tool", _("tool")


class FamilyKind(models.TextChoices):
    """Where the tools of a family come from."""

    TOOLPACK = "toolpack", _("tool pack")
    CONNECTOR = "connector", _("connector")
    MCP_SERVER = "mcp_server", _("MCP server")


class ToolState(models.TextChoices):
    """Whether a registered tool may be used."""

    ACTIVE = "active", _("active")
    CHANGED = "changed", _("changed since review")
    QUARANTINED = "quarantined", _("quarantined")
    RETIRED = "retired", _("retired")


class KeyScope(models.TextChoices):
    """What an API key may do."""

    DECIDE = "decide", _("ask for decisions")
    EXPLAIN = "explain", _("explain decisions")
    POLICY_READ = "policy:read", _("read the policy")
    POLICY_WRITE = "policy:write", _("change the policy")
    REGISTRY_WRITE = "registry:write", _("change registered tools")
    RECORDS_READ = "records:read", _("read its own records")
    PAYLOADS_READ = "payloads:read", _("read masked values of its own records")
    AUDIT_READ = "audit:read", _("read and take away all records and reports")
    CLIENTS_WRITE = "clients:write", _("create and revoke keys")
    FREEZES_WRITE = "freezes:write", _("freeze and lift freezes")
    AUDIT_WRITE = "audit:write", _("place and lift legal holds")


# What a person needs to give a scope to a key: what the admin asks for to do the same. Asking for
# decisions is what keys are for, and there is no such act in the admin.
SCOPE_NEEDS: Final[Mapping[KeyScope, tuple[str, ...]]] = {
    KeyScope.DECIDE: (),
    KeyScope.EXPLAIN: ("simulate",),
    KeyScope.POLICY_READ: (
        *("view_layer", "view_rule", "view_policyversion", "view_document"),
        *("view_tool", "view_toolfamily", "view_tooldeclaration"),
    ),
    KeyScope.POLICY_WRITE: (
        *("add_layer", "change_layer", "delete_layer", "add_rule", "change_rule", "delete_rule"),
        "publish_policy",
    ),
    KeyScope.REGISTRY_WRITE: ("add_toolfamily", "change_toolfamily", "add_tool", "change_tool"),
    KeyScope.RECORDS_READ: ("view_record", "view_recordbody"),
    KeyScope.PAYLOADS_READ: ("view_record", "view_recordbody"),
    KeyScope.AUDIT_READ: ("read_reports", "view_record", "view_recordbody", "view_legalhold"),
    KeyScope.CLIENTS_WRITE: ("view_apiclient", "add_apiclient", "change_apiclient"),
    KeyScope.FREEZES_WRITE: ("view_freeze", "add_freeze", "change_freeze"),
    KeyScope.AUDIT_WRITE: ("add_legalhold", "change_legalhold"),
}


class RecordKind(models.TextChoices):
    """What a record is about."""

    DECISION = "decision", _("decision")
    LISTING = "listing", _("listing")
    SIMULATION = "simulation", _("simulation")
    CHANGE = "change", _("policy change")
    PUBLISH = "publish", _("publication")
    FREEZE = "freeze", _("freeze")
    KEY = "key", _("API key")
    IMPORT = "import", _("tool import")
    REFUSED = "refused", _("refused request")
    # Written until sign-ins and permissions were told apart; such records keep it.
    ACCESS = "access", _("sign-in or access (old records)")
    SIGN_IN = "sign_in", _("sign-in")
    PERMISSION = "permission", _("account or permission")
    PAYLOAD_READ = "payload_read", _("payload read")
    EXPORT = "export", _("export")
    PRUNE = "prune", _("pruning")
    HOLD = "hold", _("legal hold")
    ERASE = "erase", _("erasure")
    ROTATION = "rotation", _("key rotation")
    CHECKPOINT = "checkpoint", _("checkpoint")
    VERIFY = "verify", _("verification")
    REPAIR = "repair", _("repair of the log")
