"""`audit/export/`, `audit/verifier/`: records as evidence, and the program that checks it."""

from typing import Final

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.members import query_switch, query_word
from toolpolicy.api.operations import Operation
from toolpolicy.api.problems import problem
from toolpolicy.api.renderers import PYTHON, Bytes
from toolpolicy.models.choices import KeyScope
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.evidence import verifier
from toolpolicy.services.evidence.exports import MEDIA, Asked, Form, begin
from toolpolicy.services.record_filters import MEMBERS, NUMBERS, parse_words

TAG: Final = "audit"
FORMAT: Final = "format"
COMPLETE: Final = "complete"
UNSEALED: Final = "Unsealed-Records"
_SAID: Final = {
    "from": "At or after this time (RFC 3339); a date is its midnight in UTC.",
    "to": "Before this time (RFC 3339); a date is its midnight in UTC.",
    "first": "Their number in the log, from this one on.",
    "last": "Their number in the log, up to this one.",
}


class RecordExport(ApiView):
    """Sealed records as a file."""

    parameters = frozenset({*MEMBERS, FORMAT, COMPLETE})
    # No HEAD: it would be an export that gives nothing.
    http_method_names = ("get",)

    def get_renderers(self) -> list[BaseRenderer]:
        """Answer as the query says: one address for each form, and `Accept` may refuse it."""
        form = self.request.query_params.get(FORMAT)
        forms = [one for one in Form if one == form] or [Form.BUNDLE]
        return [Bytes(MEDIA[forms[0]])]

    @Operation(
        name="export_records",
        tag=TAG,
        scope=KeyScope.AUDIT_READ,
        answer=OpenApiTypes.BINARY,
        media=tuple(MEDIA.values()),
        problems=(409,),
        parameters=(
            *(
                OpenApiParameter(
                    name=name,
                    type=int if name in NUMBERS else str,
                    description=_SAID.get(name, "Equal, as the record has it."),
                )
                for name in MEMBERS
            ),
            OpenApiParameter(
                name=FORMAT,
                enum=[str(form) for form in Form],
                default=str(Form.BUNDLE),
                description="A bundle, plain or packed, which proves itself; a table to read.",
            ),
            OpenApiParameter(
                name=COMPLETE,
                type=bool,
                default=False,
                description="Also prove that nothing was left out: larger, with every header.",
            ),
        ),
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Take sealed records away: all of them, or those that are asked for.

        What waits is sealed first; `Unsealed-Records` counts what could not be. The export is
        recorded before its first byte, and again with the digest of what was given.
        """
        export = begin(actor=self.actor, asked=_asked(request), origin=self.origin)
        file = content_disposition_header(as_attachment=True, filename=export.name)
        headers = {"Content-Disposition": str(file), UNSEALED: str(export.waiting)}
        # The response closes the export, also when the reader goes away.
        return StreamingHttpResponse(export, content_type=export.content_type, headers=headers)


class Verifier(ApiView):
    """The program that checks bundles."""

    def get_renderers(self) -> list[BaseRenderer]:
        return [Bytes(PYTHON)]

    @Operation(
        name="read_verifier",
        tag=TAG,
        scope=KeyScope.AUDIT_READ,
        within_context=True,
        answer=OpenApiTypes.BINARY,
        media=(PYTHON,),
    )
    def get(self, request: Request) -> Response:
        """Read `verify_bundle.py`, which checks a bundle anywhere, with nothing but Python."""
        del request
        file = content_disposition_header(as_attachment=True, filename=verifier.NAME)
        return Response(verifier.source(), headers={"Content-Disposition": file})


def _asked(request: Request) -> Asked:
    sent = request.query_params
    form = query_word(request, FORMAT, Form, Form.BUNDLE)
    complete = query_switch(request, COMPLETE)
    try:
        wanted = parse_words([f"{name}={sent[name]}" for name in MEMBERS if name in sent])
        return Asked(wanted=wanted, form=form, complete=complete)
    except InvalidInput as wrong:
        faults = tuple(fault.moved(fault.pointer.removeprefix("/")) for fault in wrong.faults)
        raise problem("bad_query", "see `errors`", faults=faults, place="parameter") from None
