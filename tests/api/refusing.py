"""Bodies of a question, and what their refusal says and takes."""

import json
import time

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
    # Before it, for the first answer of a process also reads the description of the API.
    most = within * shortest(api)
    took, response = timed(lambda: api.post(path, sent))
    assert took < most
    assert response.headers["Content-Type"] == "application/problem+json"
    assert not Record.objects.filter(kind__in=("decision", "listing", "simulation")).exists()
    return response.status_code, response.json()


def shortest(api):
    """Return the seconds that a refusal takes at the least, now and here."""
    return min(timed(lambda: api.post("decisions/", b"{"))[0] for _ in range(3))


def timed(work):
    """Return the seconds of this process that some work took, and what it returned."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer
