"""The sealer: records not yet sealed get their numbers, a tree over them, a signed block.

One at a time, whatever the number of processes: PostgreSQL's advisory lock, SQLite's own one.
Sealing never holds up a decision: records are only ever inserted, by whoever decides.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from toolpolicy.audit import gaps, heads, merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.headers import AT, OUTCOME, WRITER, WRITER_N, leaf, moment
from toolpolicy.audit.heads import Head
from toolpolicy.audit.signing import Signer, signer
from toolpolicy.audit.waiting import BEFORE_ALL, RECENT, STRAGGLERS, floor, legible, waiting
from toolpolicy.models import Block

MOST: Final = 1000
"""Records in one block."""
STALLED: Final = "60s"
"""How long a sealer may stand still inside a seal: then PostgreSQL ends its transaction, or one
that was stopped there would hold up all others."""
_LOCK: Final = 0x746F6F6C7365616C
_NUMBER_SQL: Final = "INSERT INTO toolpolicy_leaf (seq, record_id, hash) VALUES"
Row = tuple[Any, ...]


def seal(*, wait: bool = False) -> Block | None:
    """Seal up to `MOST` records in one block and return it; None when there is nothing to seal.

    None also while another process seals, unless told to `wait` for it. Raise SealRefused when the
    log cannot go on.
    """
    return next(sealing(wait=wait), None)


def seal_all(*, back: timedelta | None = RECENT) -> int:
    """Seal whatever is unsealed, waiting for other sealers; return how many records.

    Looks as far `back` as that, None: through the whole history.
    """
    return sum(block.count for block in sealing(wait=True, back=back))


def sealing(*, wait: bool, back: timedelta | None = RECENT) -> Iterator[Block]:
    """Seal block after block until nothing is left; each look goes on where the one before ended.

    Ends also while another process seals, unless told to `wait`. Raise SealRefused.
    """
    after = BEFORE_ALL if back is None else floor(back)
    while True:
        with transaction.atomic():
            rows = waiting(MOST, after=after) if locked(wait=wait) else []
            if not rows:
                return
            key = signer()
            block = write(heads.trusted(key), rows, key)
        after = rows[-1][0]
        yield block


def give_sign_of_life(silence: timedelta) -> Block | None:
    """Seal a block, if need be an empty one, when none was sealed for so long; else None.

    Also picks up the stragglers of a day.
    """
    if not _is_silent(silence):
        return None
    with transaction.atomic():
        if not locked(wait=False) or not _is_silent(silence):
            return None
        key = signer()
        head = heads.trusted(key)
        return write(head, waiting(MOST, after=floor(STRAGGLERS)), key)


def locked(*, wait: bool) -> bool:
    """Be the only sealer until the transaction ends; False when another one is.

    On SQLite every transaction has the database to itself.
    """
    if connection.vendor != "postgresql":
        return True
    verb = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT set_config('idle_in_transaction_session_timeout', %s, true), {verb}(%s)",
            [STALLED, _LOCK],
        )
        _, got = cursor.fetchone()
    return wait or bool(got)


def write(head: Head, rows: Sequence[Row], key: Signer, *, note: str = "") -> Block:
    """Write the block that seals these records (each its id and its `headers.COLUMNS`)."""
    records = [row[1:] for row in rows]
    with legible():
        digests = [leaf(row) for row in records]
        gone = [list(gap) for gap in gaps.gaps_before(_numbers(records))]
    now = timezone.now()
    times = [row[AT] for row in records]
    block = BlockText(
        log=head.log,
        n=head.n,
        segment=head.segment,
        first=head.first,
        count=len(rows),
        root=merkle.root(digests).hex(),
        previous=head.previous,
        at=moment(now),
        since=moment(min(times)) if times else None,
        until=moment(max(times)) if times else None,
        outcomes=dict(Counter(row[OUTCOME] for row in records)),
        gaps=gone,
        key=key.key_id,
        note=note,
    )
    _number(rows, digests, head.first)
    return _stored(block, now, key)


def _numbers(records: Sequence[Row]) -> Iterator[tuple[str, int]]:
    return ((row[WRITER], row[WRITER_N]) for row in records)


def _number(rows: Sequence[Row], digests: Sequence[bytes], first: int) -> None:
    # Django's own way of inserting many costs more than all that comes before it.
    values = zip(range(first, first + len(rows)), rows, digests, strict=True)
    given = [value for seq, row, digest in values for value in (seq, row[0], digest.hex())]
    if given:
        places = ", ".join(["(%s, %s, %s)"] * len(rows))
        with connection.cursor() as cursor:
            cursor.execute(f"{_NUMBER_SQL} {places}", given)


def _stored(block: BlockText, at: datetime, key: Signer) -> Block:
    text = block.dump()
    return Block.objects.create(
        number=block.n,
        first=block.first,
        count=block.count,
        segment=block.segment,
        at=at,
        text=text,
        signature=key.sign(text),
    )


def _is_silent(silence: timedelta) -> bool:
    last = Block.objects.order_by("-number").values_list("at", flat=True).first()
    return last is None or timezone.now() - last >= silence
