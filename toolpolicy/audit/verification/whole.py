"""The whole log judged: keys, blocks, records, writers, sinks."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Final, TypeVar

from django.db.models import Max

from toolpolicy.audit import heads, keys
from toolpolicy.audit.blocks import parse
from toolpolicy.audit.sinks import sinks
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.verification import documents, outside, sql, standing
from toolpolicy.audit.verification.chain import Place, Walk
from toolpolicy.audit.verification.crew import Crew
from toolpolicy.audit.verification.deletions import NOTHING, Known, known
from toolpolicy.audit.verification.diagnosis import explain
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.keyring import keyring
from toolpolicy.audit.verification.marks import check_mark, mark_verified, place_verified
from toolpolicy.audit.verification.reading import Sealed, between, stored_blocks, strays
from toolpolicy.audit.verification.records import Judge, tell
from toolpolicy.audit.waiting import count_waiting
from toolpolicy.models import AuditState, Block, SealKey

Progress = Callable[[int, int], None]
"""Told the number of the block just read and of the last one."""
Start = Callable[[str, list[SealKey]], Place]
"""Where to begin, by the log's name and its keys."""
Found = TypeVar("Found")
MOST_WAITING: Final = 1_000_000
LAST: Final = "how far the log was verified"
SEVERAL: Final = 100


def _silent(_done: int, _all: int) -> None:
    """Tell nobody."""


def verify(*, full: bool, progress: Progress = _silent, processes: int = 1) -> Verdict:
    """Judge the log: all of it, or what was sealed since it was verified last and found good.

    Only reads, but for the mark of how far it is good. Memory does not grow with the log. A long
    one is read by so many processes.
    """
    with sql.simple_plans():
        return _verified(None if full else _start, progress, processes)


def verify_newest_segment() -> Verdict:
    """Judge what was sealed since the last repair, if there was one; what it closed is not."""
    with sql.simple_plans():
        return _verified(lambda _log, _chain: _newest() or Place(), _silent, processes=1)


def _verified(start: Start | None, progress: Progress, processes: int) -> Verdict:
    """Judge the log from a place on; without one, all of it."""
    full = start is None
    verdict = Verdict(log="", full=full)
    _name(verdict)
    chain: list[SealKey] = read(verdict, "a key of the log", keys.chain, [])
    ring = keyring(verdict.log, chain)
    place = Place()
    if start is not None:
        place = read(verdict, LAST, partial(start, verdict.log, chain), place)
    verdict.after_block = place.n
    _tell_lost_beginning(verdict, chain, full=full)
    judge = Judge(verdict, _known(verdict))
    with closing(Crew(processes, judge.known, full=full)) as crew:
        _walk(Walk(place, ring, verdict), judge, crew, progress)
        ring.tell(verdict)
        read(verdict, LAST, lambda: check_mark(verdict, chain), None)
        if full:
            crew.judge_the_rest(verdict)
    outside.check(sinks(verdict.log), verdict, end=place.end, full=full)
    if full:
        read(verdict, "a stored document", lambda: documents.check(verdict), None)
        read(verdict, "what stands", lambda: standing.check(verdict), None)
    verdict.waiting = count_waiting(MOST_WAITING)
    if verdict.good and verdict.blocks:
        mark_verified(verdict.log, place)
    return verdict


def read(verdict: Verdict, what: str, reader: Callable[[], Found], otherwise: Found) -> Found:
    """Return what a reader finds; a value that no column should hold becomes a finding."""
    try:
        with reading():
            return reader()
    except Unreadable as error:
        verdict.find(Kind.ALTERED, f"{what} cannot be read: {error}")
    return otherwise


def _name(verdict: Verdict) -> None:
    """Find the log's name: what its first block says, where the database says otherwise."""
    first = stored_blocks("number >= %s", [1], 1)
    try:
        said = parse(first[0].text).log if first else ""
    except ValueError:
        said = ""
    rows: list[tuple[int, str]] = read(verdict, "the name of the log", _names, [])
    verdict.log = said or (rows[0][1] if rows else "")
    if not rows and first:
        verdict.find(Kind.MISSING, "the name of the log is gone")
    elif len(rows) > 1:
        verdict.find(Kind.DUPLICATED, "the name of the log is there twice")
    elif rows and rows[0] != (1, verdict.log):
        verdict.find(Kind.ALTERED, f"the database names the log {rows[0][1]}; its blocks do not")


def _tell_lost_beginning(verdict: Verdict, chain: list[SealKey], *, full: bool) -> None:
    """Say that the first seals are gone, whether the log was begun anew since or not."""
    if not chain and heads.was_sealed():
        verdict.find(Kind.MISSING, heads.ALL_GONE)
    first = stored_blocks("number >= %s", [1], 1)
    if full and first and first[0].number == 1 and first[0].segment != 1:
        verdict.find(Kind.MISSING, "the first segment of the log is gone", block=1, segment=1)


def _names() -> list[tuple[int, str]]:
    found = AuditState.objects.order_by("pk").values_list("pk", "log")
    return [(row, str(name)) for row, name in found]


def _start(log: str, chain: list[SealKey]) -> Place:
    """Return where to go on: after what was verified, and never before the newest segment.

    What a repair closed is told by a full verification.
    """
    place, newest = place_verified(log, chain), _newest()
    if newest is None or newest.segment < place.segment or newest.n < place.n:
        return place
    return newest


def _newest() -> Place | None:
    """Return where the newest segment begins."""
    newest = Block.objects.order_by("-number").values_list("segment", flat=True).first()
    if newest is None:
        return None
    begin = Block.objects.filter(segment=newest).order_by("number")[0]
    return Place(n=begin.number - 1, end=begin.first, segment=newest - 1)


def _walk(walk: Walk, judge: Judge, crew: Crew, progress: Progress) -> None:
    verdict, place = walk.verdict, walk.place
    beyond: list[Sealed] = []
    while True:
        last = Block.objects.aggregate(last=Max("number"))["last"] or 0
        for block, counted in crew.judged(walk.blocks()):
            if counted is None:
                judge.check(block)
            else:
                judge.count(counted)
            progress(block.n, last)
        beyond = strays(place.end, SEVERAL)
        # A block may have come meanwhile, with the leaves that seem to stand in none.
        if not beyond or not Block.objects.filter(number__gt=max(place.n, last)).exists():
            break
    for end, first in walk.skipped:
        beyond += between(end, first, SEVERAL)
    explain(judge, beyond)
    _tell_gone(judge)
    verdict.head = place.n


def _known(verdict: Verdict) -> Known:
    return read(verdict, "a record of a deletion", known, NOTHING)


def _tell_gone(judge: Judge) -> None:
    """Say what is gone and not by a deletion that the log tells of, by now."""
    if not judge.gone:
        return
    deleted = _known(judge.verdict)
    for one in judge.gone:
        if not one.is_explained(deleted):
            tell(judge.verdict, Kind.MISSING, one.block, one.seq, one.message)
