"""Shape and database constraints. What the rows mean, and every write to them, is in services."""

from toolpolicy.models.access import SignInAttempt
from toolpolicy.models.audit import (
    AuditState,
    Block,
    Leaf,
    SealKey,
    SinkState,
    StreamState,
    VerificationRun,
)
from toolpolicy.models.clients import ApiClient, RefusalCount, SeenContext, SessionTaint
from toolpolicy.models.forms import SentForm
from toolpolicy.models.holds import LegalHold
from toolpolicy.models.masking import Masking
from toolpolicy.models.policy import Layer, Rule
from toolpolicy.models.records import MaskedValue, Record, RecordBody, RuleUsage
from toolpolicy.models.registry import Tool, ToolDeclaration, ToolFamily
from toolpolicy.models.versions import Document, Freeze, PolicyState, PolicyVersion

__all__ = (
    "ApiClient",
    "AuditState",
    "Block",
    "Document",
    "Freeze",
    "Layer",
    "Leaf",
    "LegalHold",
    "MaskedValue",
    "Masking",
    "PolicyState",
    "PolicyVersion",
    "Record",
    "RecordBody",
    "RefusalCount",
    "Rule",
    "RuleUsage",
    "SealKey",
    "SeenContext",
    "SentForm",
    "SessionTaint",
    "SignInAttempt",
    "SinkState",
    "StreamState",
    "Tool",
    "ToolDeclaration",
    "ToolFamily",
    "VerificationRun",
)
