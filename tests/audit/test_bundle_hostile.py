"""Whatever it is given, the verifier says a verdict: tables, and thousands of small slips."""

import gzip
import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.audit.bundles import Log, judged, some_log, written
from toolpolicy.audit import verify_bundle

pytestmark = pytest.mark.usefixtures("signatures_once")
LOG = some_log()
FORMS = [LOG.bundle({"tool": "send"}, complete=complete) for complete in (False, True)]
GOOD = written(FORMS[True])
FIRST = GOOD.splitlines(keepends=True)[0]
DEEP = b"[" * 100_000
NOT_BUNDLES = {
    "nothing": (b"", 2),
    "an empty line": (b"\n", 1),
    "spaces": (b" " * 1000, 2),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), 1),
    "zeros": (bytes(10_000) + b"\n", 1),
    "another encoding": (GOOD.decode().encode("utf-16"), 1),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, 1),
    "a list": (b"[]\n", 1),
    "a number": (b"17\n", 1),
    "null": (b"null\n", 1),
    "an object": (b"{}\n", 1),
    "a list as type": (b'{"type":["bundle"]}\n', 1),
    "an unknown type": (b'{"type":"blok"}\n', 1),
    "a newer format": (FIRST.replace(b"bundle/1", b"bundle/2"), 2),
    "a member twice": (FIRST.replace(b'{"complete"', b'{"complete":true,"complete"'), 1),
    "another filter": (FIRST.replace(b'"tool"', b'"tulip"'), 1),
    "a filter by a list": (FIRST.replace(b'"send"', b'["send"]'), 1),
    "a filter by true": (FIRST.replace(b'"send"', b"true"), 1),
    "a span that is no time": (FIRST.replace(b'{"tool"', b'{"from":"2026","tool"'), 1),
    "a time without its digits": (FIRST.replace(b".000000Z", b"Z"), 1),
    "deep lists": (DEEP + b"\n", 1),
    "deep objects": (b'{"a":' * 100_000 + b"\n", 1),
    "depth in a filter": (FIRST.replace(b'"send"', DEEP + b"]" * 100_000), 1),
    "NaN": (FIRST.replace(b'"send"', b"NaN"), 1),
    "infinity": (FIRST.replace(b'"send"', b"-Infinity"), 1),
    "a number beyond the doubles": (FIRST.replace(b'"send"', b"1e400"), 1),
    "a long number": (FIRST.replace(b'"send"', b"9" * 5000), 1),
    "half a sign": (FIRST.replace(b'"send"', b'"\\ud800"') + GOOD[len(FIRST) :], 1),
    "no UTF-8": (FIRST.replace(b"send", b"s\xffnd"), 1),
    "only its first line": (FIRST, 2),
    "the end alone": (GOOD.splitlines(keepends=True)[-1], 1),
    "an empty gzip": (gzip.compress(b""), 2),
    "gzip cut off": (gzip.compress(GOOD)[:-20], 2),
    "gzip without its check": (gzip.compress(GOOD)[:-8], 2),
    "gzip damaged": (gzip.compress(GOOD)[:200] + bytes(50) + gzip.compress(GOOD)[250:], 1),
    "gzip with another check": (gzip.compress(GOOD)[:-8] + bytes(8), 1),
    "only the mark of gzip": (b"\x1f\x8b", 2),
    "gzip twice": (gzip.compress(gzip.compress(GOOD)), 1),
    "zlib": (zlib.compress(GOOD), 1),
}


@pytest.mark.parametrize("name", NOT_BUNDLES)
def test_what_is_no_bundle_gets_a_verdict(tmp_path, name):
    data, code = NOT_BUNDLES[name]
    found = judged(tmp_path, data)
    assert found["exit"] == code, found
    assert found["what"].isascii()
    json.dumps(found)


@pytest.mark.parametrize("path", ["", "missing", "bundle\0", "\udcff"])
def test_what_cannot_be_opened_gets_a_verdict(tmp_path, path):
    assert verify_bundle.verify(str(tmp_path / path), "", [])["exit"] == 2
    good = tmp_path / "good"
    good.write_bytes(GOOD)
    assert verify_bundle.verify(str(good), "", [str(tmp_path / path)])["exit"] == 2


def test_a_line_beyond_the_longest_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(verify_bundle, "LONGEST_LINE", 50_000)
    assert judged(tmp_path, GOOD)["exit"] == 0
    long = FIRST + b'{"type":"key","key":"' + b"a" * 50_000 + b'"}\n'
    found = judged(tmp_path, long)
    assert (found["exit"], found["what"]) == (1, "the line is too long")


MIB = 1 << 20
MANY_THINGS = {
    "lists": b"[" + b"[]," * (2 * MIB) + b"0]",
    "objects": b"[" + b"{}," * (2 * MIB) + b"0]",
    "empty strings": b"[" + b'"",' * (3 * MIB) + b"0]",
    "numbers": b"[" + b"7," * (3 * MIB) + b"0]",
    "strings that end late": b'["' + b'\\"' * MIB + b'",' + b"[]," * (2 * MIB) + b"0]",
}


@pytest.mark.parametrize("name", MANY_THINGS)
def test_a_line_of_many_small_things_is_not_built(tmp_path, monkeypatch, name):
    line = FIRST.replace(b'"send"', MANY_THINGS[name])
    assert len(line) < verify_bundle.LONGEST_LINE
    monkeypatch.setattr(verify_bundle, "READER", None)  # nothing is read: it would fail
    found = judged(tmp_path, line)
    assert (found["exit"], found["what"]) == (1, "it holds too many things")


def test_a_long_text_is_no_line_of_many_things(tmp_path):
    log = Log()
    log.record(more={"said": '[{"\\' * MIB})
    log.seal()
    assert judged(tmp_path, written(log.bundle()))["exit"] == 0


def test_what_is_lost_is_not_looked_for_without_end(tmp_path, monkeypatch):
    lines = LOG.bundle(complete=True)
    moved = [*lines[:3], *lines[4:-1], lines[3], lines[-1]]
    assert judged(tmp_path, written(moved))["kind"] == "reordered"
    monkeypatch.setattr(verify_bundle, "SEARCHED", 1000)
    assert judged(tmp_path, written(moved))["kind"] == "missing"


@given(st.data())
@settings(max_examples=150)
def test_any_json_in_place_of_any_value_gets_a_verdict(tmp_path_factory, data):
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    anything = st.recursive(
        leaves,
        lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=3), part),
        max_leaves=4,
    )
    lines = FORMS[data.draw(st.booleans())]
    n = data.draw(st.integers(0, len(lines) - 1))
    name = data.draw(st.sampled_from(sorted(lines[n])))
    changed = {**lines[n], name: data.draw(anything)}
    raw = written([*lines[:n], {"type": "x"}, *lines[n + 1 :]])
    text = json.dumps(changed).encode()
    found = judged(tmp_path_factory.getbasetemp(), raw.replace(b'{"type":"x"}', text))
    assert found["exit"] in {1, 2} or changed == lines[n]


# --- slips of single bytes and lines --------------------------------------------------------------


def meaning(data: bytes) -> list[object]:
    """Return what a bundle says, all of it but how its last line is written."""
    lines = data.splitlines(keepends=True)
    return [*lines[:-1], json.loads(lines[-1])]


@given(st.data())
@settings(max_examples=400)
def test_no_slip_of_a_byte_passes(tmp_path_factory, data):
    at = data.draw(st.integers(0, len(GOOD) - 1))
    new = data.draw(st.binary(max_size=2))
    slipped = GOOD[:at] + new + GOOD[at + data.draw(st.integers(0, 2)) :]
    found = judged(tmp_path_factory.getbasetemp(), slipped)
    assert found["exit"] in {1, 2} or meaning(slipped) == meaning(GOOD)


@pytest.mark.parametrize("bit", range(8))
def test_no_bit_of_the_last_line_slips(tmp_path, bit):
    start = GOOD.rindex(b"\n", 0, -1) + 1
    for at in range(start, len(GOOD)):
        slipped = GOOD[:at] + bytes([GOOD[at] ^ 1 << bit]) + GOOD[at + 1 :]
        found = judged(tmp_path, slipped)
        assert found["exit"] in {1, 2} or meaning(slipped) == meaning(GOOD), slipped[start:]


@given(st.data())
@settings(max_examples=150)
def test_no_slip_of_a_byte_in_gzip_passes(tmp_path_factory, data):
    packed = bytearray(gzip.compress(GOOD, mtime=0))
    packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    found = judged(tmp_path_factory.getbasetemp(), bytes(packed))
    assert found["exit"] in {1, 2} or gzip.decompress(packed) == GOOD


@given(st.data())
@settings(max_examples=150)
def test_no_shuffle_of_lines_passes(tmp_path_factory, data):
    lines = GOOD.splitlines(keepends=True)
    kept = data.draw(st.lists(st.sampled_from(range(len(lines))), min_size=1, max_size=40))
    mixed = b"".join(lines[n] for n in kept)
    found = judged(tmp_path_factory.getbasetemp(), mixed)
    assert found["exit"] in {1, 2} or mixed == GOOD


@given(st.binary(max_size=300))
@settings(max_examples=100)
def test_any_bytes_get_a_verdict(tmp_path_factory, data):
    assert judged(tmp_path_factory.getbasetemp(), data)["exit"] in {1, 2}
