"""Bodies of a question, and what their refusal says and takes."""

import json
from collections.abc import Callable
from typing import Any

from tests.timing import assert_times, seconds
from toolpolicy.models import Record

# How many times as long as the shortest refusal one may take: that is some 2 ms.
WITHIN = 1_000
QUICKLY = 150
GOOD = {"surface": "call", "tool": "send_mail", "arguments": {"to": "a"}}


def body(**members):
    return json.dumps({**GOOD, **members}).encode()


def raw(arguments: bytes) -> bytes:
    return b'{"surface":"call","tool":"send_mail","arguments":' + arguments + b"}"


def refused(api, path, sent, within=QUICKLY):
    response = answered_within(within, api, lambda: api.post(path, sent))
    assert response.headers["Content-Type"] == "application/problem+json"
    assert not Record.objects.filter(kind__in=("decision", "listing", "simulation")).exists()
    return response.status_code, response.json()


def answered_within(most: float, api, ask: Callable[[], Any]) -> Any:
    """Return an answer that took no more than so many times the shortest refusal, here and now."""
    answers = []

    def ratio(_: int) -> float:
        # Before it, for the first answer of a process also reads the description of the API.
        shortest = seconds(lambda: api.post("decisions/", b"{"), times=3)
        return seconds(lambda: answers.append(ask())) / shortest

    assert_times(most, ratio)
    return answers[-1]
