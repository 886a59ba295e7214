"""The registry of tools: every write to it, and the value that decisions are judged by (SPEC §8).

Each write takes the state row's lock, keeps the snapshot of the whole registry as a document,
points the state at its digest, and leaves one record: one transaction.
"""

from toolpolicy.services._registry_families import create_family, update_family
from toolpolicy.services._registry_formats import ToolFormat, export_tools
from toolpolicy.services._registry_history import Declared, declarations_of
from toolpolicy.services._registry_import import import_limits, import_tools
from toolpolicy.services._registry_labels import Labels, label_tools, subject_of
from toolpolicy.services._registry_report import ImportReport
from toolpolicy.services._registry_reviews import (
    Review,
    Verdict,
    give_verdict,
    quarantine_tool,
    retire_tool,
    review_of,
    review_tool,
)
from toolpolicy.services._registry_rows import find as find_tool
from toolpolicy.services._registry_tools import LAID, declare_tool, update_tool
from toolpolicy.services._registry_warnings import names_like, warnings_about
from toolpolicy.services.registry_store import live, load

__all__ = (
    "LAID",
    "Declared",
    "ImportReport",
    "Labels",
    "Review",
    "ToolFormat",
    "Verdict",
    "create_family",
    "declarations_of",
    "declare_tool",
    "export_tools",
    "find_tool",
    "give_verdict",
    "import_limits",
    "import_tools",
    "label_tools",
    "live",
    "load",
    "names_like",
    "quarantine_tool",
    "retire_tool",
    "review_of",
    "review_tool",
    "subject_of",
    "update_family",
    "update_tool",
    "warnings_about",
)
