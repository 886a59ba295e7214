"""`decisions/`, `decisions/batch/`, `catalog/`, `explain/`: shells over `toolpolicy.api.core`."""

import re
from typing import Final

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from toolpolicy.api import core, examples
from toolpolicy.api.base import ApiView
from toolpolicy.api.operations import Operation
from toolpolicy.api.problems import problem
from toolpolicy.api.reading import BATCH
from toolpolicy.api.shapes import decisions as shapes
from toolpolicy.engine.faults import Fault, shown
from toolpolicy.models.choices import KeyScope

TAG: Final = "decisions"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
_KEY: Final = re.compile(r"[\x20-\x7e]{1,128}")


def idempotency_key(header: str | None) -> str | None:
    """Return the key of a request that may be repeated. Raise a problem when it is none."""
    if header is None or _KEY.fullmatch(header):
        return header
    fault = Fault(IDEMPOTENCY_KEY, f"{shown(header)} is not 1 to 128 printable ASCII characters")
    raise problem("bad_header", fault.message, faults=(fault,), place="header")


class Decisions(ApiView):
    """One decision."""

    @Operation(
        name="decide",
        tag=TAG,
        scope=KeyScope.DECIDE,
        within_context=True,
        request=shapes.QuestionShape,
        answer=shapes.DecisionShape,
        examples=examples.DECIDE,
        parameters=(
            OpenApiParameter(
                name=IDEMPOTENCY_KEY,
                type={"type": "string", "pattern": r"^[\x20-\x7e]{1,128}$"},
                location=OpenApiParameter.HEADER,
                description="A repeat with the same body gets the recorded answer again.",
            ),
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Decide whether a tool may be listed, found or called.

        The answer is recorded before it is given. A deny is HTTP 200: read `outcome`. Whatever is
        not HTTP 200 is no answer and allows nothing. With `explain` the key needs that scope too.
        """
        key = idempotency_key(request.headers.get(IDEMPOTENCY_KEY))
        return core.decide(self.body(), self.caller, key).http()


class DecisionBatch(ApiView):
    """Many decisions."""

    cap = BATCH

    @Operation(
        name="decide_batch",
        tag=TAG,
        scope=KeyScope.DECIDE,
        within_context=True,
        request=shapes.BatchShape,
        answer=shapes.BatchAnswer,
        examples=examples.DECIDE_BATCH,
    )
    def post(self, request: Request) -> HttpResponse:
        """Decide up to 1,000 questions by one version of the policy.

        Each item is answered or refused by itself, in order. What an item leaves out is taken from
        `defaults`; their `context` is taken together, value by value.
        """
        del request
        return core.decide_batch(self.body(), self.caller).http()


class Catalog(ApiView):
    """One listing."""

    cap = BATCH

    @Operation(
        name="list_catalog",
        tag=TAG,
        scope=KeyScope.DECIDE,
        within_context=True,
        request=shapes.ListQuestionShape,
        answer=shapes.ListingShape,
        examples=examples.LIST,
    )
    def post(self, request: Request) -> HttpResponse:
        """List the tools that may be seen, and what a call of each would meet.

        Of the registry, or of the `subjects` that are sent. The listing is recorded.
        """
        del request
        return core.list_tools(self.body(), self.caller).http()


class Explain(ApiView):
    """One simulated decision, explained."""

    @Operation(
        name="explain",
        tag=TAG,
        scope=KeyScope.EXPLAIN,
        within_context=True,
        request=shapes.QuestionShape,
        answer=shapes.ExplainedShape,
        examples=examples.EXPLAIN,
    )
    def post(self, request: Request) -> HttpResponse:
        """Explain what a decision would be: each layer and rule, and the field that decided it.

        Recorded as a simulation.
        """
        del request
        return core.explain(self.body(), self.caller).http()
