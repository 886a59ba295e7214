"""Where a trace leads."""

from django.http import HttpRequest
from django.urls import reverse

from toolpolicy.admin.tracing.answers import AnswerView
from toolpolicy.models import Rule


def rule_address(request: HttpRequest, answer: AnswerView | None) -> str:
    """Return the page of the rule that blocks; "" for none, or who may not see rules. One query."""
    blocked = answer.blocked if answer else None
    if not blocked or not blocked["rule"] or not request.user.has_perm("toolpolicy.view_rule"):
        return ""
    found = Rule.objects.filter(layer__name=blocked["layer"], rule_id=blocked["rule"])
    key = found.values_list("pk", flat=True).first()
    return reverse("admin:toolpolicy_rule_change", args=(key,)) if key else ""
