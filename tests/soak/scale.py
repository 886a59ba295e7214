"""A long log: how fast it is sealed and verified, beside the hashing of the same bytes alone."""

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from django.db import connection

from tests.counting import counting
from tests.soak.filling import fill
from toolpolicy.audit import proofs, sealer
from toolpolicy.audit.verification.crew import cores
from toolpolicy.audit.verification.reading import Span, span
from toolpolicy.audit.verification.whole import verify
from toolpolicy.models import Leaf, Record

SAMPLE: Final = 40_000
"""Records that are hashed in memory, before and after what is compared with them."""
NEW: Final = 10_000
"""Records that come to a log that was verified."""
AT_ONCE: Final = 1000
PROOFS: Final = 100
VERIFYING: Final = """
import re, django
django.setup()
from toolpolicy.audit.verification.whole import verify
assert verify(full=True).good
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""


def scale(records: int) -> dict[str, Any]:
    """Write records, seal and verify them, and then some more; return what was measured."""
    fill(records)
    sealed, took = _timed(sealer.seal_all)
    found: dict[str, Any] = {
        "database": connection.vendor,
        "sealed_per_second": _rate(sealed, took),
    }
    found["full"] = _verified(full=True)
    whole = found["full"]["good"] and found["full"]["records"] == Leaf.objects.count()
    fill(min(NEW, records))
    new = sealer.seal_all()
    found["incremental"] = _verified(full=False)
    whole = whole and found["incremental"]["good"] and found["incremental"]["records"] == new
    return {**found, "proof": _proved(), "peak_mib": int(_said(VERIFYING)), "whole": whole}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.monotonic()
    done = work()
    return done, time.monotonic() - started


def _rate(count: int, took: float) -> int:
    return round(count / took) if count else 0


def _verified(*, full: bool) -> dict[str, Any]:
    """Verify between two rounds of hashing alone, which share the machine's moods."""
    before = _hashing()
    with counting() as asked:
        verdict, took = _timed(lambda: verify(full=full, processes=cores()))
    floor, read = (before + _hashing()) / 2, verdict.records
    said = {"records": read, "seconds": round(took, 2), "good": verdict.good}
    ratio = round(floor * read / took, 3)
    # What other processes ask is not counted; so few records as are new are read by one.
    counts = {} if full else {"queries": asked.queries, "rows": asked.rows}
    return {**said, "ratio_to_hashing": ratio, **counts}


def _hashing() -> float:
    """Return the seconds that hashing a record's header and text takes, of bytes in memory."""
    pairs = [pair for part in _sample() for pair in zip(part.headers, part.texts, strict=True)]
    _, took = _timed(lambda: _hashed(pairs))
    return took / len(pairs)


def _hashed(pairs: list[tuple[bytes, bytes | None]]) -> None:
    for header, text in pairs:
        hashlib.sha256(b"\x00" + header).hexdigest()
        hashlib.sha256(b"\x00" + (text or b"")).hexdigest()


def _sample() -> Iterator[Span]:
    """Read records from the middle of the log, where they are like most others."""
    count = Leaf.objects.count()
    first = max(1, count // 2 - SAMPLE // 2)
    for start in range(first, min(first + SAMPLE, count + 1), AT_ONCE):
        found = span(start, min(start + AT_ONCE, count + 1))
        if found is None:
            raise RuntimeError("the log is not as it was sealed")
        yield found[0]


def _proved() -> dict[str, Any]:
    """Prove records from the beginning of the log to its end, one by one."""
    count = Leaf.objects.count()
    seqs = range(1, count + 1, max(1, count // PROOFS))
    uids = list(Record.objects.filter(leaf__seq__in=seqs).values_list("uid", flat=True))
    with counting() as asked:
        proved, took = _timed(lambda: [proofs.prove(uid) for uid in uids])
    steps = max(len(proof.path) for proof in proved if proof)
    said = {"milliseconds": round(1000 * took / len(uids), 2), "longest_path": steps}
    return {**said, "queries": asked.queries / len(uids), "rows": round(asked.rows / len(uids))}


def _said(code: str) -> str:
    ended = subprocess.run(  # its memory is its own
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return ended.stdout
