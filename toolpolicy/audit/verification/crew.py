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
from typing import Final

from django.db import connection

from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.verification import unsealed
from toolpolicy.audit.verification.beside import prepare
from toolpolicy.audit.verification.findings import Verdict
from toolpolicy.audit.verification.pruned import Pruned, pruned
from toolpolicy.audit.verification.spans import Counted, counted, in_a_row

ALONE: Final = 25
"""So many spans are judged before other processes are started: a short log is read faster."""
_AHEAD: Final = 3
"""Spans that each of them is given at once."""
_MOST_KEPT: Final = 200
Judged = tuple[BlockText, Counted | None]


def cores() -> int:
    """Return how many processes can work beside each other here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """The process that began, and others when there is much to do.

    One that fails or is killed ends the verification with an error.
    """

    def __init__(self, processes: int, known: Pruned, *, full: bool) -> None:
        # Others would not see what this transaction did.
        self._others = 0 if connection.in_atomic_block else processes - 1
        self._known, self._full = known, full
        self._judged = 0
        self._pool: ProcessPoolExecutor | None = None
        self._given: list[Future[list[Counted | None]]] = []
        self._unsealed: Future[Verdict] | None = None

    def close(self) -> None:
        """End the other processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def judged(self, blocks: Iterable[BlockText]) -> Iterator[Judged]:
        """Yield blocks in their order, each with what it holds; None: it is not plainly good."""
        kept: deque[tuple[list[BlockText], Future[list[Counted | None]]]] = deque()
        for some in in_a_row(blocks):
            kept.append((some, self._begun(some)))
            while kept and (kept[0][1].done() or len(kept) > _MOST_KEPT):
                yield from _together(*kept.popleft())
        while kept:
            yield from _together(*kept.popleft())

    def unsealed(self, verdict: Verdict) -> None:
        """Judge what no block covers."""
        if self._unsealed is None:
            unsealed.judge(verdict)
        else:
            verdict.take(self._unsealed.result())

    def _begun(self, some: Sequence[BlockText]) -> "Future[list[Counted | None]]":
        self._judged += 1
        if self._pool is None and self._others > 0 and self._judged > ALONE:
            self._start()
        self._given = [future for future in self._given if not future.done()]
        if self._pool is not None and len(self._given) < _AHEAD * self._others:
            self._given.append(self._pool.submit(_counted, some))
            return self._given[-1]
        done: Future[list[Counted | None]] = Future()
        done.set_result(counted(some, self._known))
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
            self._unsealed = self._pool.submit(_judge_unsealed)


def _together(some: Sequence[BlockText], found: "Future[list[Counted | None]]") -> Iterator[Judged]:
    return zip(some, found.result(), strict=True)


# --- in the other processes -----------------------------------------------------------------------


def _counted(some: Sequence[BlockText]) -> list[Counted | None]:
    return counted(some, _pruned())


@lru_cache(maxsize=1)
def _pruned() -> Pruned:
    try:
        with reading():
            return pruned()
    except Unreadable:
        return Pruned(())  # the process that began tells of it


def _judge_unsealed() -> Verdict:
    found = Verdict(log="", full=True)
    unsealed.judge(found)
    return found
