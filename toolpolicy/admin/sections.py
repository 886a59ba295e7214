"""Where each page stands in the navigation, and what it is for."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.words import Words

# Section: the models and pages of it, each with its purpose in one line, in the order of use.
SECTIONS: Final[Mapping[str, Mapping[str, Words]]] = {
    "Watch": {
        "Record": _("Every answer that was given and every change that was made, newest first"),
        "Freeze": _("Stop an agent, a channel, a family or a tool at once"),
        "LegalHold": _("Keep records beyond their time"),
        "RuleUsage": _("How often each rule decided, hour by hour"),
        "SessionTaint": _("Sessions that have read untrusted content"),
        "RefusalCount": _("Requests without a valid key, by address and minute"),
        "Audit": _("Whether the log is sealed and good, and everything about one thing"),
        "Reports": _("Changes, access and oversight of a period, and any point in time"),
    },
    "Policy": {
        "Layer": _("What applies to whom, in which order"),
        "Rule": _("Every rule of every layer, to search and filter"),
        "Simulator": _("Ask what would happen, and why"),
        "Matrix": _("What each agent may call, tool by tool"),
        "PolicyVersion": _("What was live, since when and by whom"),
        "Document": _("The exact text of each policy and registry, by digest"),
        "PolicyState": _("Which digests every decision is judged by now"),
    },
    "Registry": {
        "Tool": _("What each tool is, says of itself and may do"),
        "ToolFamily": _("Where tools come from, and whether their word is believed"),
        "ToolDeclaration": _("What tools declared, kept whole"),
        "Masking": _("What records do not show of arguments, and of which values a digest is kept"),
    },
    "Access": {
        "ApiClient": _("Applications that may ask, and their keys"),
        "User": _("People who sign in here"),
        "Group": _("What people may do, by role"),
    },
}
OTHER: Final = "Other"
NAMES: Final[Mapping[str, Words]] = {
    "Watch": _("Watch"),
    "Policy": _("Policy"),
    "Registry": _("Registry"),
    "Access": _("Access"),
    OTHER: _("Other"),
}
# Pages that are no model's: (name, address, the permission that it takes).
PAGES: Final[Mapping[str, tuple[Words, str, str]]] = {
    "Matrix": (_("Matrix"), "admin:toolpolicy_matrix", "toolpolicy.view_policyversion"),
    "Simulator": (_("Simulator"), "admin:toolpolicy_simulator", "toolpolicy.simulate"),
    "Audit": (_("Audit"), "admin:toolpolicy_audit", "toolpolicy.read_reports"),
    "Reports": (_("Reports"), "admin:toolpolicy_reports", "toolpolicy.read_reports"),
}

# What stands in the navigation of somebody who checks the log and may do nothing else.
AUDITING: Final = frozenset({"Record", "Audit", "Reports"})


def pages_of(request: HttpRequest) -> dict[str, Any]:
    """Return the pages that are no model's and that this person may see, as Django lists models."""
    return {
        name: {"name": shown, "object_name": name, "admin_url": reverse(address), "view_only": True}
        for name, (shown, address, needed) in PAGES.items()
        if request.user.has_perm(needed)
    }


def arrange(apps: Iterable[Mapping[str, Any]], pages: dict[str, Any]) -> list[dict[str, Any]]:
    """Sort the models of Django's application list, and our pages, into sections with purposes.

    A model that stands in no section (of an application beside ours) goes to the last one.
    """
    models = {model["object_name"]: model for app in apps for model in app["models"]} | pages
    arranged = []
    for name, purposes in SECTIONS.items():
        held = [
            {**models.pop(model), "purpose": purpose}
            for model, purpose in purposes.items()
            if model in models
        ]
        arranged.append(_section(name, held))
    arranged.append(_section(OTHER, list(models.values())))
    return [section for section in arranged if section["models"]]


def only_audits(arranged: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether somebody's navigation has the audit page, and nothing but what it is about."""
    names = {model["object_name"] for section in arranged for model in section["models"]}
    return "Audit" in names and names <= AUDITING


def _section(name: str, models: list[dict[str, Any]]) -> dict[str, Any]:
    label = name.lower()
    return {
        "name": NAMES[name],
        "app_label": label,
        "app_url": f"#{label}",
        "has_module_perms": True,
        "models": models,
    }
