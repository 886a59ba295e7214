"""Bundles at random: lines of several mixed, bits that flip, and nonsense that the key signs."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audit.bundles import PRUNING, Log, canonical, judged, places, some_log, written

pytestmark = pytest.mark.usefixtures("signatures_once")
LOG, OTHER = some_log(), some_log("other")
SEND = {"tool": "send"}
POOL = [
    canonical(line).encode() + b"\n"
    for log in (LOG, OTHER)
    for wanted in ({}, SEND)
    for complete in (True, False)
    for line in log.bundle(wanted, complete=complete, pruned={} if complete else {2: PRUNING})
]
GOOD = [written(LOG.bundle(wanted, complete=c)) for wanted in ({}, SEND) for c in (True, False)]


def meaning(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


@given(st.data())
@settings(max_examples=250)
def test_lines_of_several_bundles_mixed_at_random_pass_only_as_one_of_them(tmp_path_factory, data):
    lines = [*GOOD[data.draw(st.integers(0, 3))].splitlines(keepends=True)[:-1]]
    pick = data.draw(st.randoms(use_true_random=False))
    for _ in range(data.draw(st.integers(1, 4))):
        at, what = pick.randrange(len(lines)), pick.randrange(4)
        if what == 0:
            lines[at] = pick.choice(POOL)
        elif what == 1:
            lines.insert(at, pick.choice(POOL))
        elif what == 2:
            del lines[at]
        else:
            lines[at] = lines[pick.randrange(len(lines))]
    body = b"".join(lines)
    sent = written([json.loads(line) for line in lines])
    found = judged(tmp_path_factory.getbasetemp(), sent)
    assert found["exit"] in {1, 2} or is_a_part(body), found


def is_a_part(body: bytes) -> bool:
    """Whether lines are those of one bundle, but for what may lack of one that is not complete."""
    lines = body.splitlines(keepends=True)
    first = json.loads(lines[0])
    said = {*POOL, *(line for good in GOOD for line in good.splitlines(keepends=True))}
    whole = written(LOG.bundle(first["filter"], complete=True)).splitlines(keepends=True)[1:-1]
    sinks = [line for line in lines if b'"sink"' in line]
    all_there = not first["complete"] or [*lines[1:], *whole[-1:]][: len(whole)] == whole
    return all_there and len(sinks) < len(lines) and all(line in said for line in lines[1:])


@given(st.data())
@settings(max_examples=200)
def test_bits_that_flip_in_many_places_never_pass_and_never_stop_it(tmp_path_factory, data):
    good = GOOD[data.draw(st.integers(0, 3))]
    pack = data.draw(st.booleans())
    sent = bytearray(gzip.compress(good, mtime=0) if pack else good)
    pick = data.draw(st.randoms(use_true_random=False))
    for _ in range(data.draw(st.integers(1, 40))):
        sent[pick.randrange(len(sent))] ^= 1 << pick.randrange(8)
    cut = data.draw(st.integers(0, len(sent)))
    sent = sent[:cut] if data.draw(st.booleans()) else sent
    found = judged(tmp_path_factory.getbasetemp(), bytes(sent))
    assert found["exit"] in {0, 1, 2}
    same = bytes(sent) in {good, gzip.compress(good, mtime=0)}
    assert found["exit"] or same or pack or meaning(bytes(sent)) == meaning(good), found


ODD = ["", "x", "\ud7ff\0", 0, -1, 2**63, 10**40, 1.5, True, None, [], [[]], {}, {"a": None}]
SAID = ("answer", "context", "policy", "asker", "writer", "bodies", "id")
MEMBERS = ("n", "first", "count", "segment", "outcomes", "from", "gaps", "v")


@given(st.data())
@settings(max_examples=200)
def test_whatever_the_key_signs_gets_a_verdict(tmp_path_factory, data):
    """Nonsense in headers, texts and blocks, by somebody who seals it."""
    odd, log = st.sampled_from(ODD), Log()
    log.record("decision", more={data.draw(st.sampled_from(SAID)): data.draw(odd)})
    log.record("prune", more={data.draw(st.sampled_from(SAID)): data.draw(odd)})
    log.seal()
    lines = log.bundle(complete=data.draw(st.booleans()), pruned={1: 2} if data.draw(odd) else {})
    n, seq = places(lines, "block")[0], data.draw(st.integers(0, 1))
    header = [*log.headers[seq]]
    header[data.draw(st.integers(1, 24))] = data.draw(odd)
    shown = lines[n + 1 + seq]
    lines[n + 1 + seq] = {**shown, "header": header}
    block = {**log.blocks[0], data.draw(st.sampled_from(MEMBERS)): data.draw(odd)}
    text = canonical(block)
    if data.draw(st.booleans()):
        lines[n] = {**lines[n], "block": text, "signature": log.key.sign(text)}
    found = judged(tmp_path_factory.getbasetemp(), written(lines))
    assert found["exit"] in {0, 1, 2}
    json.dumps(found)
