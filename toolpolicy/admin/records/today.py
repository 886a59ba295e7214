"""A recorded call asked again by today's policy, and what differs.

Asking is a POST and makes a record of its own, a simulation; the comparison reads both records.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import by, told
from toolpolicy.admin.records.detail import RecordView
from toolpolicy.admin.records.reading import read
from toolpolicy.admin.simulator.pages import may_simulate
from toolpolicy.admin.tracing.answers import AnswerView
from toolpolicy.admin.tracing.links import rule_address
from toolpolicy.admin.words import Words
from toolpolicy.engine.questions import Question
from toolpolicy.models import Record
from toolpolicy.services import decisions
from toolpolicy.services.decisions import asked_in
from toolpolicy.services.payloads import ValuesMissing, payload_of

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

View = Callable[..., HttpResponse]
# What a decision is judged by, and what to call it.
JUDGED_BY: Final[Mapping[str, Words]] = {
    "policy": _("The policy"),
    "registry": _("The registry of tools"),
    "settings": _("The settings"),
    "freezes": _("The freezes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the comparison."""

    about: str
    then: str
    now: str

    @property
    def differs(self) -> bool:
        """Whether it is another one today."""
        return self.then != self.now


def today_view(page: "ModelAdmin[Record]") -> View:
    """Return the view that asks again and leads to the comparison."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        if not may_simulate(request):
            raise PermissionDenied
        recorded = read(request, page, pk, judged=True)
        if request.method != "POST":
            return HttpResponseNotAllowed(("POST",))
        who, address = by(request), reverse("admin:toolpolicy_record_change", args=(pk,))
        with told(request):
            question = decisions.question_of(recorded.record)
            answer = decisions.simulate(asker=who["actor"], question=question, origin=who["origin"])
            address = reverse("admin:toolpolicy_record_compare", args=(pk, answer.decision_id))
        return HttpResponseRedirect(address)

    return view


def compare_view(page: "ModelAdmin[Record]") -> View:
    """Return the view of the recorded answer beside a later one to the same question."""

    def view(request: HttpRequest, pk: int, uid: UUID) -> HttpResponse:
        if not may_simulate(request):
            raise PermissionDenied
        then = read(request, page, pk, judged=True)
        record = decisions.simulated(uid)
        if record is None or not _same(then.record, record):
            raise Http404
        now = RecordView(record)
        context = {
            **page.admin_site.each_context(request),
            "title": gettext("Replayed with today’s policy"),
            "opts": page.opts,
            "view": then,
            "record": then.record,
            "again": record,
            **_compared(then, now),
            "answer": now.answered,
            "rule_url": rule_address(request, now.answered),
        }
        return TemplateResponse(request, "admin/toolpolicy/record/today.html", context)

    return view


def _same(then: Record, now: Record) -> bool:
    """Tell whether two records are of the same question."""
    try:
        again = payload_of(now)
        return _asked(decisions.question_of(then, again.body)) == _asked(asked_in(again.whole()))
    except ValuesMissing:
        return False


def _asked(question: Question) -> Question:
    return replace(question, dry_run=False, explain=False, min_policy_version=None)


def _compared(then: RecordView, now: RecordView) -> dict[str, Any]:
    before, after = then.answered, now.answered
    if before is None or after is None:
        raise Http404
    words = zip(_words(before), _words(after), strict=True)
    rows = [Row(about=about, then=old, now=new) for (about, old), (_, new) in words]
    changed = [name for member, name in JUDGED_BY.items() if _by(then, member) != _by(now, member)]
    return {"before": before, "rows": rows, "changed": changed}


def _by(view: RecordView, member: str) -> Any:
    """Return what was judged by; two versions can hold the same policy."""
    found = view.body[member]
    return found["digest"] if member == "policy" else found


def _words(answer: AnswerView) -> list[tuple[str, str]]:
    blocked, observed = answer.blocked or {}, answer.observed
    rule = gettext("nothing blocks")
    if blocked:
        named = {"rule": blocked.get("rule") or gettext("the default"), "layer": blocked["layer"]}
        rule = gettext("%(rule)s in %(layer)s") % named
    return [
        (gettext("Answer"), str(answer.word)),
        (gettext("Reason"), answer.reason_code),
        (gettext("Blocked by"), rule),
        (gettext("Approval"), str(answer.approval)),
        (gettext("Listed"), gettext("yes") if answer.document["visible"] else gettext("no")),
        (
            gettext("If all were enforced"),
            observed["reason_code"] if observed else gettext("the same"),
        ),
    ]
