"""`records/`: what was decided and done with the asking key, and why it was refused."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import RecordFilters
from toolpolicy.api.operations import Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.shapes import records as shapes
from toolpolicy.engine.reading import Reader
from toolpolicy.models import Record
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import payloads, records
from toolpolicy.services.errors import NotFound
from toolpolicy.services.evidence.seals import seal_of

TAG: Final = "records"
OVER_REST: Final = "asked over REST"
LONGEST_WHY: Final = 500


class Records(ListView):
    """The key's own records."""

    queryset = Record.objects.none()
    ordering = ("-id",)
    filterset_class = RecordFilters
    serializer_class = shapes.RecordShape

    def get_queryset(self) -> QuerySet[Record]:
        return records.visible_to(self.actor)

    @Operation(
        name="list_records",
        tag=TAG,
        scope=KeyScope.RECORDS_READ,
        within_context=True,
        answer=shapes.RecordShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the records of the asking key, latest first, without their bodies."""
        del request
        return self.page()


class RecordOne(ApiView):
    """One of the key's own records."""

    @Operation(
        name="read_record",
        tag=TAG,
        scope=KeyScope.RECORDS_READ,
        within_context=True,
        answer=shapes.RecordDetail,
        problems=(404,),
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """Read one record of the asking key with its body and its seal.

        `uid` is the `decision_id` or `listing_id` of an answer. Masked values are not in it.
        """
        del request
        record = records.get(actor=self.actor, uid=uid)
        document = records.document_of(record)
        text = None if document is None else record.body.text
        seal = seal_of(record)
        found = {"body": document, "text": text, "seal": None if seal is None else seal.wire()}
        return Response({**shapes.RecordShape(record).data, **found})


class RecordPayload(ApiView):
    """The masked values of one of the key's own records."""

    @Operation(
        name="read_payload",
        tag=TAG,
        scope=KeyScope.PAYLOADS_READ,
        within_context=True,
        request=shapes.PayloadInput,
        answer=shapes.PayloadShape,
        problems=(404,),
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Read what the text of one record does not show, with the salts to check it by.

        A POST, because each reading is a record of its own, written before the values are given;
        it holds `why`.
        """
        del request
        why = _why(self.members())
        record = records.get(actor=self.actor, uid=uid)
        if records.document_of(record) is None:
            raise NotFound(f"text of record {uid}")
        payload = payloads.look(actor=self.actor, record=record, why=why, origin=self.origin)
        return Response({"uid": record.uid, "body": payload.body, "masked": payload.wire()})


def _why(values: Mapping[str, Any]) -> str:
    """Read `{why?}`. Raises `Faults`."""
    reader = Reader()
    members = reader.members(values, "", ("why",))
    why = reader.text(members.get("why", ""), "/why") or ""
    if len(why) > LONGEST_WHY:
        reader.fault("/why", f"at most {LONGEST_WHY} characters", "too_large")
    return reader.finish(f"{OVER_REST}: {why}" if why else OVER_REST)
