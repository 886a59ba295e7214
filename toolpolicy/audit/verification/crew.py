"""Several processes that judge blocks beside each other, each with a connection of its own.

They only say which blocks are plainly good. What is wrong with any other is found out by the
process that began, as if it were alone: so what is found is the same, however many there are.
"""

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from django.db import connection

from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.verification import identities, sql, unsealed
from toolpolicy.audit.verification.beside import prepare
from toolpolicy.audit.verification.deletions import NOTHING, Known, known
from toolpolicy.audit.verification.findings import Verdict
from toolpolicy.audit.verification.spans import Counted, Judged, counted, in_a_row

if TYPE_CHECKING:
    from toolpolicy.audit.verification.reading import Seen

ALONE: Final = 25
"""So many spans are judged before other processes are started: a short log is read faster."""
_AHEAD: Final = 3
"""Spans that each of them is given at once."""
_MOST_KEPT: Final = 200
_FEW: Final = 100


def cores() -> int:
    """Return how many processes can work beside each other here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """The process that began, and others when there is much to do.

    One that fails or is killed ends the verification with an error.
    """

    def __init__(self, processes: int, deleted: Known, *, full: bool) -> None:
        # Others would not see what this transaction did.
        self._others = 0 if connection.in_atomic_block else processes - 1
        self._deleted, self._full = deleted, full
        self._judged = 0
        self._pool: ProcessPoolExecutor | None = None
        self._given: list[Future[Judged]] = []
        self._seen: list[Seen] = []
        self._identities: Future[Verdict] | None = None

    def close(self) -> None:
        """End the other processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def judged(self, blocks: Iterable[BlockText]) -> Iterator[tuple[BlockText, Counted | None]]:
        """Yield blocks in their order, each with what it holds; None: it is not plainly good."""
        kept: deque[tuple[list[BlockText], Future[Judged]]] = deque()
        for some in in_a_row(blocks):
            kept.append((some, self._begun(some)))
            while kept and (kept[0][1].done() or len(kept) > _MOST_KEPT):
                yield from self._together(*kept.popleft())
        while kept:
            yield from self._together(*kept.popleft())

    def judge_the_rest(self, verdict: Verdict) -> None:
        """Judge what no block covers, once all blocks were judged."""
        if self._identities is None:
            identities.judge(verdict)
        else:
            verdict.take(self._identities.result())
        unsealed.judge(verdict, self._seen)

    def _together(
        self, some: Sequence[BlockText], judged: "Future[Judged]"
    ) -> Iterator[tuple[BlockText, Counted | None]]:
        found, seen = judged.result()
        if seen is not None and len(seen.others) <= _FEW:
            # What goes on where the one before ended is kept as one: memory does not grow.
            if self._seen and seen.first == self._seen[-1].last + 1:
                seen = self._seen.pop().joined(seen)
            self._seen.append(seen)
        return zip(some, found, strict=True)

    def _begun(self, some: Sequence[BlockText]) -> "Future[Judged]":
        self._judged += 1
        if self._pool is None and self._others > 0 and self._judged > ALONE:
            self._start()
        self._given = [future for future in self._given if not future.done()]
        if self._pool is not None and len(self._given) < _AHEAD * self._others:
            self._given.append(self._pool.submit(_counted, some))
            return self._given[-1]
        done: Future[Judged] = Future()
        done.set_result(counted(some, self._deleted))
        return done

    def _start(self) -> None:
        self._pool = ProcessPoolExecutor(
            self._others,
            # A copy of this process would have its connection, and the locks of its threads.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=prepare,
            initargs=(connection.settings_dict["NAME"],),
        )
        if self._full:
            self._identities = self._pool.submit(_judge_identities)


# --- in the other processes -----------------------------------------------------------------------


def _counted(some: Sequence[BlockText]) -> Judged:
    with sql.simple_plans():
        return counted(some, _deleted())


@lru_cache(maxsize=1)
def _deleted() -> Known:
    try:
        with reading():
            return known()
    except Unreadable:
        return NOTHING  # the process that began tells of it


def _judge_identities() -> Verdict:
    found = Verdict(log="", full=True)
    with sql.simple_plans():
        identities.judge(found)
    return found
