"""Answers as bytes, before any framework has a say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.http import HttpResponse

from toolpolicy.api.problems import CONTENT_TYPE, Problem, dumps

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: status, body and the headers that belong to it."""

    status: int
    content: bytes
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    def http(self) -> HttpResponse:
        """Return the answer as Django sends it."""
        return HttpResponse(
            self.content,
            status=self.status,
            content_type=self.content_type,
            headers=dict(self.headers),
        )


def problem_reply(problem: Problem, request_id: str) -> Reply:
    """Return the answer that says what is wrong."""
    return Reply(
        status=problem.http_status,
        content=dumps(problem.document(request_id)),
        content_type=CONTENT_TYPE,
        headers=problem.headers,
    )
