"""Every page of the admin, by name: the browser looks for faults on each, and takes its picture.

A new page belongs in `pages`, which is asked once there is something of everything.
"""

import json
from typing import Final

from django.contrib import admin
from django.contrib.auth.models import User

from tests.admin.pages import address
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.models import Layer, PolicyVersion, Record, Rule, Tool
from toolpolicy.services import decisions
from toolpolicy.services.actors import Actor
from toolpolicy.services.evidence.reports import ReportName

MODELS: Final = (
    *("layer", "rule", "policyversion", "document", "policystate", "record", "freeze", "ruleusage"),
    *("legalhold", "sessiontaint", "refusalcount", "tool", "toolfamily", "tooldeclaration"),
    *("apiclient", "masking", "user", "group"),
)
ADDED: Final = ("layer", "freeze", "legalhold", "apiclient", "tool", "toolfamily", "user", "group")


def one_of(model: str) -> object:
    """Return the key of the first row of a model."""
    page = next(page for cls, page in admin.site._registry.items() if cls._meta.model_name == model)
    return page.model._default_manager.first().pk


def _about(denied: Record) -> dict[str, str]:
    """Ask a denied call again, and return the pages about it and its answer."""
    root = Actor.for_user(User.objects.filter(is_superuser=True).earliest("pk"))
    question = decisions.asked_in(json.loads(denied.body.text))
    again = decisions.simulate(asker=root, question=question).decision_id
    return {
        "record-denied": address("record", "change", denied.pk),
        "record-rule": address("record", "rule", denied.pk),
        "record-compared": address("record", "compare", denied.pk, again),
        "simulator-answered": f"/admin/simulator/?answer={again}",
    }


def pages() -> dict[str, str]:
    """Return the address of each page under the name of its picture."""
    layer = Layer.objects.filter(rules__isnull=False).in_order().last()
    rule = Rule.objects.filter(layer=layer).first()
    denied = Record.objects.filter(kind="decision", reason_code="rule_denied").first()
    assert layer is not None
    assert rule is not None
    return {
        "home": "/admin/",
        "password": "/admin/password_change/",
        "password-done": "/admin/password_change/done/",
        "user-password": address("user", "password_change", one_of("user")),
        **{f"{model}-list": address(model) for model in MODELS},
        **{f"{model}-one": address(model, "change", one_of(model)) for model in MODELS},
        **{f"{model}-add": address(model, "add") for model in ADDED},
        "layer-rules": address("layer", "change", layer.pk),
        "layer-delete": address("layer", "delete", layer.pk),
        "layer-none-found": address("layer") + "?q=nothing+like+it",
        "layer-recipes": address("layer", "recipes"),
        **{f"layer-recipe-{name}": address("layer", "recipe", name) for name in RECIPES},
        "layer-import": address("layer", "import"),
        "rule-add": f"{address('rule', 'add')}?layer={layer.pk}",
        "rule-change": address("rule", "change", rule.pk),
        "rule-delete": address("rule", "delete", rule.pk),
        "record-bad-filter": address("record") + "?outcome=perhaps",
        **(_about(denied) if denied else {}),
        "simulator": f"/admin/simulator/?tool={Tool.objects.earliest('pk').name}&agent=coder-7",
        "matrix": "/admin/matrix/",
        "audit": "/admin/audit/",
        "timeline": "/admin/audit/timeline/?about=agent&name=coder-7",
        "timeline-empty": "/admin/audit/timeline/",
        "reports": "/admin/reports/",
        **{f"report-{name}": f"/admin/reports/{name}/" for name in ReportName},
        "report-bad-period": "/admin/reports/changes/?since=2026-02-01&until=2026-01-01",
        "moment": "/admin/reports/point-in-time/?agent=coder-7",
        "moment-compared": "/admin/reports/point-in-time/?agent=coder-7&against=2026-01-01T00:00",
        "version-compare": f"{address('policyversion', 'compare')}?before=1&after=2",
        "version-compare-json": f"{address('policyversion', 'compare')}?before=1&after=2&as=json",
        "version-roll-back": address(
            "policyversion", "roll_back", PolicyVersion.objects.get(number=1).pk
        ),
        "tool-import": address("tool", "import"),
    }
