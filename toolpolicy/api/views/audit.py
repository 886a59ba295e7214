"""`audit/reports/`, `audit/at/`: what an auditor asks, about everybody and not the key alone."""

from typing import ClassVar, Final

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.members import query_moment, query_period, query_word
from toolpolicy.api.operations import Operation
from toolpolicy.api.reading import JSON
from toolpolicy.api.renderers import CSV, CsvFile, JsonFile
from toolpolicy.api.shapes import audit as shapes
from toolpolicy.api.shapes import moments
from toolpolicy.models.choices import KeyScope
from toolpolicy.services.evidence.reports import (
    ReportFormat,
    ReportName,
    export,
)
from toolpolicy.services.evidence.standings import PLACES, compare, standing_at

TAG: Final = "audit"
FORMAT: Final = "format"
MOMENT: Final = "A date (its end, UTC) or a time as RFC 3339 writes it"
PARAMETERS: Final = (
    OpenApiParameter(
        name="from",
        description="A date or time; by default the first of the month of `to`.",
    ),
    OpenApiParameter(
        name="to",
        description="A date, which belongs to the period, or a time, which ends it; by default "
        "today.",
    ),
    OpenApiParameter(
        name=FORMAT,
        enum=[str(word) for word in ReportFormat],
        default=str(ReportFormat.JSON),
        description="How the report is written.",
    ),
)


class ReportView(ApiView):
    """A report of a period, as a file."""

    parameters = frozenset({"from", "to", FORMAT})
    report: ClassVar[ReportName]

    def get_renderers(self) -> list[BaseRenderer]:
        """Answer as the query says: one address for each form, and `Accept` may refuse it."""
        as_csv = self.request.query_params.get(FORMAT) == ReportFormat.CSV
        return [CsvFile() if as_csv else JsonFile()]

    def exported(self, request: Request) -> FileResponse:
        """Return the report; that it is taken away is recorded."""
        form = query_word(request, FORMAT, ReportFormat, ReportFormat.JSON)
        period = query_period(request, timezone.now())
        exported = export(
            actor=self.actor, name=self.report, period=period, form=form, origin=self.origin
        )
        return FileResponse(exported.file, content_type=exported.media, filename=exported.name)


class ChangesReport(ReportView):
    """What was changed."""

    report = ReportName.CHANGES

    @Operation(
        name="report_changes",
        tag=TAG,
        scope=KeyScope.AUDIT_READ,
        answer=shapes.ChangesReport,
        media=(JSON, CSV),
        parameters=PARAMETERS,
    )
    def get(self, request: Request) -> FileResponse:
        """Report every change of a period, what stands out first.

        Each stands once: under `exceptions` or under `others`. Taking a report is recorded.
        """
        return self.exported(request)


class AccessReport(ReportView):
    """Who may do what."""

    report = ReportName.ACCESS

    @Operation(
        name="report_access",
        tag=TAG,
        scope=KeyScope.AUDIT_READ,
        answer=shapes.AccessReport,
        media=(JSON, CSV),
        parameters=PARAMETERS,
    )
    def get(self, request: Request) -> FileResponse:
        """Report who may do what: people, API keys, and what each agent may call.

        As things are now; the period says what counts as used. Taking a report is recorded.
        """
        return self.exported(request)


class OversightReport(ReportView):
    """How calls were answered."""

    report = ReportName.OVERSIGHT

    @Operation(
        name="report_oversight",
        tag=TAG,
        scope=KeyScope.AUDIT_READ,
        answer=shapes.OversightReport,
        media=(JSON, CSV),
        parameters=PARAMETERS,
    )
    def get(self, request: Request) -> FileResponse:
        """Report how calls were answered: by day, tool, rule, agent and reason.

        Of the period's whole hours. Taking a report is recorded.
        """
        return self.exported(request)


class PointInTime(ApiView):
    """What could be done then."""

    parameters = frozenset({*PLACES, "on", "against"})

    @Operation(
        name="point_in_time",
        tag=TAG,
        scope=KeyScope.AUDIT_READ,
        answer=moments.PointInTime,
        problems=(404,),
        parameters=(
            *(OpenApiParameter(name=place, description=f"The {place}'s name.") for place in PLACES),
            OpenApiParameter(name="on", description=f"{MOMENT}; by default now."),
            OpenApiParameter(
                name="against", description=f"{MOMENT}: then `compared` says what differs."
            ),
        ),
    )
    def get(self, request: Request) -> Response:
        """Say what a caller could do at a point in time, tool by tool.

        By the version, the registered tools and the freezes then in force; `missing` names what the
        history does not tell. With `against`, what differs between the two moments and through
        what. 404: a document of then is not kept.
        """
        asked, now = request.query_params, timezone.now()
        context = {place: asked[place] for place in PLACES if asked.get(place)}
        on = query_moment(request, "on", now) if "on" in asked else now
        if "against" not in asked:
            return Response({"standing": standing_at(context, on).wire(), "compared": None})
        found = compare(context, query_moment(request, "against", now), on)
        return Response({"standing": None, "compared": found.wire()})
