"""A bundle of any length is verified in the same memory, and a packed one cannot blow it up."""

import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.audit.bundles import Key, Line, canonical, hash_of, moment, written
from toolpolicy.audit import verify_bundle
from toolpolicy.audit.merkle import leaf, root

MIB = 1 << 20
IN_A_BLOCK = 1000
# Runs the script and tells the most memory that its process ever had, in kB.
MEASURED = """
import re, sys
sys.argv = sys.argv[1:]
try:
    exec(compile(open(sys.argv[0]).read(), "verify_bundle", "exec"), {"__name__": "__main__"})
finally:
    status = open("/proc/self/status").read()
    print(re.search(r"VmHWM:\\s+(\\d+) kB", status).group(1), file=sys.stderr)
"""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux tells a process's peak memory"
)


def peak_of(path: Path, code: int) -> int:
    """Verify a bundle in a process of its own and return the most bytes that it ever had."""
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURED, verify_bundle.__file__, str(path)],
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert ended.returncode == code, ended
    return int(ended.stdout and ended.stderr) * 1024


def long_bundle(blocks: int) -> Iterator[Line]:
    """Yield a complete bundle, one block at a time: a `Log` would take long to make it."""
    key, log, previous = Key("long"), "long", "0" * 64
    told = {"made_at": moment(0), "made_by": "ann", "filter": {}, "key": key.id, "log": log}
    yield {"type": "bundle", "format": "toolpolicy-bundle/2", "complete": True, **told}
    none = dict.fromkeys(("statement", "signature"))
    yield {"type": "key", "key": key.id, "public": key.public, **none}
    for n in range(1, blocks + 1):
        first = (n - 1) * IN_A_BLOCK + 1
        records = [record(seq) for seq in range(first, first + IN_A_BLOCK)]
        sealed = {"v": 1, "log": log, "n": n, "segment": 1, "first": first, "count": IN_A_BLOCK}
        leaves = [leaf_of(line) for line in records]
        sealed |= {"root": root(leaves).hex(), "previous": previous}
        sealed |= {"at": moment(0), "from": moment(0), "to": moment(0), "key": key.id}
        sealed |= {"outcomes": {"allow": IN_A_BLOCK}, "gaps": [], "note": ""}
        text = canonical(sealed)
        previous = hash_of(b"\2", text)
        told = {"leaves": [digest.hex() for digest in leaves]}
        yield {"type": "block", "block": text, "signature": key.sign(text), **told}
        yield from records


def leaf_of(line: Line) -> bytes:
    return leaf(json.dumps(line["header"], ensure_ascii=False, separators=(",", ":")).encode())


def record(seq: int) -> Line:
    writer = f'{{"id":"w","n":{seq}}}'
    text = f'{{"at":"{moment(0)}","id":"u{seq}","kind":"decision","v":1,"writer":{writer}}}'
    digest = hashlib.sha256(b"\0" + text.encode()).hexdigest()
    own = ["toolpolicy-record/1", f"u{seq}", "decision", moment(0), "w", seq, digest]
    header = [*own, *["call", "allow", "", "", "tool"], *[""] * 3, None, *[""] * 3, 1, *[""] * 5]
    return {"type": "record", "seq": seq, "header": header, "text": text}


def test_ten_times_the_records_take_no_more_memory(tmp_path):
    peaks = []
    for blocks in (10, 100):
        path = tmp_path / str(blocks)
        path.write_bytes(written(long_bundle(blocks)))
        peaks.append(peak_of(path, 0))
    assert peaks[1] - peaks[0] < 1 * MIB, peaks
    assert peaks[1] < 64 * MIB


@pytest.mark.parametrize("filling", [b"\0", b"[", b'"', b"\n"], ids=repr)
def test_a_packed_line_without_end_is_cut(tmp_path, filling):
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(filling * (256 * MIB), compresslevel=1))
    assert path.stat().st_size < 2 * MIB
    assert peak_of(path, 1) < 160 * MIB
