"""What an agent could do at a point in time, and what differs from another."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.answers_shown import AnswerShown
from toolpolicy.admin.marks import OUTCOMES
from toolpolicy.admin.reports.forms import MomentForm
from toolpolicy.engine.words import Scope
from toolpolicy.services import seen
from toolpolicy.services.errors import NotFound
from toolpolicy.services.evidence.moments import WORDS, Moment
from toolpolicy.services.evidence.standings import Compared, Standing, compare, standing_at
from toolpolicy.services.matrix import OUTCOMES as STATES

if TYPE_CHECKING:
    from toolpolicy.admin.site import ToolPolicyAdminSite

NEEDED: Final = "toolpolicy.read_reports"
MOST_TOOLS: Final = 300
MOST_EVENTS: Final = 100
Shown = dict[str, Any]


def moment_view(site: "ToolPolicyAdminSite") -> Callable[[HttpRequest], HttpResponse]:
    """Return the view of a point in time."""

    def view(request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm(NEEDED):
            raise PermissionDenied
        form = MomentForm(request.GET, timezone.now())
        context: Shown = {
            **site.each_context(request),
            "title": _("Point in time"),
            "form": form,
            "agents": seen.values(Scope.AGENT),
        }
        # An empty form asks nothing yet.
        if request.GET and form.is_valid():
            try:
                context |= _found(form)
            except NotFound as missing:
                context["lost"] = missing.faults[0].message
        return TemplateResponse(request, "admin/toolpolicy/report/moment.html", context)

    return view


def _found(form: MomentForm) -> Shown:
    on, against = form.cleaned_data["on"], form.cleaned_data["against"]
    if against is None:
        return _standing(form, standing_at(form.context, on))
    return _compared(form, compare(form.context, against, on))


def _moment(moment: Moment) -> Shown:
    return {"moment": moment, "missing": [WORDS[one] for one in moment.missing]}


def _standing(form: MomentForm, found: Standing) -> Shown:
    wanted = [one for one in found.answers if form.wants(one.tool)]
    counts = Counter(one.said.outcome for one in found.answers)
    return {
        "moments": [_moment(found.moment)],
        "counts": [(OUTCOMES[one], counts[one]) for one in STATES.values()],
        "tools": [
            ("/".join(one.tool), one.state, AnswerShown.of(one.said)) for one in wanted[:MOST_TOOLS]
        ],
        "more": max(0, len(wanted) - MOST_TOOLS),
    }


def _compared(form: MomentForm, found: Compared) -> Shown:
    wanted = [one for one in found.differences if form.wants(one.tool)]
    return {
        "moments": [_moment(side.moment) for side in (found.before, found.after)],
        "events": [one.words for one in found.events[:MOST_EVENTS]],
        "more_events": max(0, len(found.events) - MOST_EVENTS),
        "event_count": len(found.events),
        "differences": [
            (
                "/".join(one.tool),
                *(AnswerShown.of(*side) for side in one.sides),
                [event.words for event in one.through],
            )
            for one in wanted[:MOST_TOOLS]
        ],
        "more": max(0, len(wanted) - MOST_TOOLS),
    }
