"""The sentences of an answer: the published refusal, and what the faces say (SPEC §9)."""

from typing import Final

from toolpolicy.engine.decision import BlockedBy
from toolpolicy.engine.faults import printable
from toolpolicy.engine.words import ReasonCode

CAUSES: Final = {
    ReasonCode.NAME_REFUSED: "its name differs from a registered tool's only in spelling, or it is"
    " registered under another family",
    ReasonCode.TOOL_AMBIGUOUS: "several families have a tool of this name; say which is meant",
    ReasonCode.TOOL_RETIRED: "it is retired",
    ReasonCode.TOOL_QUARANTINED: "it changed and is held until somebody reviews it",
    ReasonCode.TOOL_UNREGISTERED: "it is not registered, and only registered tools may be used",
    ReasonCode.DISPATCHER_BAD_TARGET: "the arguments do not name one tool to run",
    ReasonCode.DISPATCHER_UNKNOWN_TARGET: "it may only be run through a dispatcher when registered",
    ReasonCode.DISPATCHER_CYCLE: "the call leads back to a tool that it came from",
    ReasonCode.DISPATCHER_TOO_DEEP: "the call leads through too many tools",
    ReasonCode.FROZEN: "it is frozen",
    ReasonCode.TOOL_DEFAULT_OFF: "it is off by default and nothing switches it on",
    ReasonCode.NO_POLICY: "there is no policy to decide by",
    ReasonCode.STALE_POLICY: "the policy here is older than the one asked for",
    ReasonCode.AUDIT_UNAVAILABLE: "the decision could not be recorded",
    ReasonCode.INTERNAL: "the decision failed",
}


def refusal_text(name: str, blocked: BlockedBy | None) -> str:
    """Return the published sentence, raw (vectors R19); nothing is quoted or escaped."""
    if blocked is None:
        return f"Tool '{name}' is not permitted."
    if blocked.rule is None:
        rule = "(default deny)"
    elif blocked.id is not None:
        rule = f"(rule '{blocked.id}')"
    else:
        rule = f"(rule #{blocked.rule})"
    layer = "" if blocked.layer is None else f" in '{blocked.layer}'"
    reason = "" if blocked.reason is None else f": {blocked.reason}"
    return f"Tool '{name}' is not permitted by tool rules {rule}{layer}{reason}."


def message(name: str, reason_code: ReasonCode, blocked: BlockedBy | None, detail: str = "") -> str:
    """Return the sentence for the agent about tool `name`; whatever cannot be printed is escaped.

    `detail` adds what only the deployment knows, such as why something is frozen.
    """
    if blocked is not None:
        return printable(refusal_text(name, blocked))
    if reason_code is ReasonCode.ALLOWED:
        return printable(f"Tool '{name}' may be used.")
    if reason_code is ReasonCode.NEEDS_APPROVAL:
        return printable(f"Tool '{name}' needs the approval of a person before it runs.")
    cause = f"{CAUSES[reason_code]}: {detail}" if detail else CAUSES[reason_code]
    return printable(f"Tool '{name}' is not permitted: {cause}.")
