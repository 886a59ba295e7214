"""Whether the clock may say that the time of a text is over: a wrong one would delete everything.

A process cannot tell its clock from a better one, so two witnesses are asked. PostgreSQL has a
clock of its own. And the log: while anything runs it gets a block every few minutes, so a long time
without one means that the clock jumped, or that nothing ran. Which of the two it was, only people
know. Blocks that come after a jump are written by the same clock and prove nothing.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from toolpolicy.audit.headers import moment
from toolpolicy.models import Block, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services._deletion import Order, alone, record
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Refused

APART: Final = timedelta(days=1)
"""How far the clock may be from the database's."""
STANDSTILL: Final = timedelta(days=7)
"""For how long nothing need run without anybody asking."""
CONFIRMED: Final = "said that the clock is right"
OPTION: Final = "--clock-is-right"


def doubted(now: datetime, cut_offs: Mapping[str, datetime]) -> str:
    """Say why no text may be deleted at `now`; empty when nothing speaks against it.

    A jump that lies before every cut-off does no harm: what was written before it is old enough by
    the time that passed since. One query for each week since then.
    """
    other = _database_now()
    if other is not None and abs(now - other) > APART:
        return (
            f"the clock says {moment(now)} and the database's clock says {moment(other)}: "
            "one of them is wrong"
        )
    jump = _newest_jump(now, min(cut_offs.values()))
    if jump is None or _confirmed_since(jump[0]):
        return ""
    return (
        f"nothing was sealed from {moment(jump[0])} to {moment(jump[1])}: the clock is wrong, or "
        f"nothing ran for so long; if it is right, say so: manage.py audit prune {OPTION}"
    )


def refuse_doubted(now: datetime, cut_offs: Mapping[str, datetime]) -> None:
    """Raise Refused (`clock_doubted`) when the clock may be wrong."""
    if doubt := doubted(now, cut_offs):
        raise Refused("clock_doubted", doubt)


def confirm(*, actor: Actor) -> None:
    """Record that somebody looked at the clock: every jump until now really took so long."""
    with alone():
        order = Order(actor=actor, said={"why": "clock"})
        record(RecordKind.PRUNE, CONFIRMED, order, {"bodies": []})


def _database_now() -> datetime | None:
    """Return the time of the database's own clock; SQLite has none but ours."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (found,) = cursor.fetchone()
    return found if isinstance(found, datetime) else None


def _newest_jump(now: datetime, since: datetime) -> tuple[datetime, datetime] | None:
    """Return the ends of the last standstill that ended after `since`."""
    times = Block.objects.order_by("at").values_list("at", flat=True)
    later = now
    while later > since:
        near = times.filter(at__gte=later - STANDSTILL, at__lt=later).first()
        if near is None:
            before = times.filter(at__lt=later).last()
            return None if before is None else (before, later)
        later = near
    return None


def _confirmed_since(begin: datetime) -> bool:
    # What is said is sealed at once: in the block that ends the standstill, or in a later one.
    said = Record.objects.filter(kind=RecordKind.PRUNE, object_label=CONFIRMED, at__gt=begin)
    return said.exists()
