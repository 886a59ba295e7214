"""Records written, held, lifted, pruned and erased in any order, beside a naive model.

After every step the log is good, nothing under a hold is gone, nothing is gone before its time, and
what is due is gone.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.audit.logs import verdict
from tests.retention.worlds import TESTS, hold, seal, settled, standing, write
from toolpolicy.audit.headers import moment
from toolpolicy.models import LegalHold, MaskedValue, Record
from toolpolicy.services import erasure, holds, retention
from toolpolicy.services.erasure import Person
from toolpolicy.services.record_filters import parse

pytestmark = pytest.mark.django_db

WORLDS = range(20)
STEPS = 12
KINDS = ("decision", "listing", "prune", "repair")
NEVER = ("prune", "repair")
AGENTS = ("ada", "bob", "")


@dataclass
class Held:
    """A record as the model knows it."""

    at: datetime
    columns: dict[str, Any]
    user: str
    text: bool = True
    values: int = 0


@dataclass
class World:
    chance: random.Random
    records: dict[int, Held] = field(default_factory=dict)
    standing: dict[int, dict[str, Any]] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=lambda: {"listing": 400})

    # --- steps -----------------------------------------------------------------------------------

    def fill(self) -> None:
        ages = sorted((self.chance.uniform(1, 900) for _ in range(25)), reverse=True)
        for age in ages:
            columns = {
                "kind": self.chance.choice(KINDS),
                "agent": self.chance.choice(AGENTS),
                "session": self.chance.choice(("s-1", "s-2")),
            }
            masked = self.chance.randrange(3)
            user = self.chance.choice(("eve", "mal"))
            context = {"user": user}
            pk = write(age=age, masked=("x",) * masked, context=context, **columns)
            row = Record.objects.get(pk=pk)
            self.records[pk] = Held(at=row.at, columns=columns, user=user, values=masked)

    def step(self) -> None:
        steps = (self.place, self.lift, self.prune, self.erase, self.change_days, self.shadow)
        self.chance.choice(steps)()

    def place(self) -> None:
        wire = self.filter()
        self.standing[hold(**wire).pk] = wire

    def lift(self) -> None:
        if self.standing:
            pk = self.chance.choice(sorted(self.standing))
            holds.lift(actor=TESTS, hold=pk)
            del self.standing[pk]

    def change_days(self) -> None:
        self.days = {kind: self.chance.randrange(183, 900) for kind in ("decision", "listing")}

    def prune(self) -> None:
        with settled(retention_by_kind=tuple(self.days.items())):
            done = retention.prune(actor=TESTS)
        gone = [one for pk, one in self.records.items() if one.text and self.is_due(one, pk)]
        assert done.deleted.texts == len(gone)
        for one in gone:
            one.text, one.values = False, 0

    def erase(self) -> None:
        wire, context = self.filter(), {}
        if self.chance.random() < 0.4:
            context = {"user": self.chance.choice(("eve", "mal"))}
        person = Person(filter=parse(wire), context=context)
        if not person.bounded():
            return
        bodies = self.chance.random() < 0.3
        done = erasure.erase(actor=TESTS, person=person, reason="asked to", bodies=bodies)
        meant = [
            one
            for pk, one in self.records.items()
            if self.asks(wire, pk, one)
            and (not context or (one.text and one.user == context["user"]))
            and not self.is_held(pk, one)
        ]
        assert done.deleted.values == sum(one.values for one in meant)
        for one in meant:
            one.values = 0
            one.text = one.text and not (bodies and one.columns["kind"] not in NEVER)

    def shadow(self) -> None:
        """Count what would go: it must be what goes."""
        with settled(retention_by_kind=tuple(self.days.items())):
            would = retention.prune(actor=TESTS, dry_run=True).deleted.texts
        assert would == sum(one.text and self.is_due(one, pk) for pk, one in self.records.items())

    # --- the model -------------------------------------------------------------------------------

    def filter(self) -> dict[str, Any]:
        low, high = sorted(
            timezone.now() - timedelta(days=self.chance.randrange(900)) for _ in "ab"
        )
        first = self.chance.randrange(1, 20)
        possible = {
            "agent": self.chance.choice(AGENTS),
            "session": self.chance.choice(("s-1", "s-2")),
            "kind": self.chance.choice(KINDS),
            "from": moment(low),
            "to": moment(high),
            "first": first,
            "last": first + self.chance.randrange(15),
        }
        return {name: value for name, value in possible.items() if self.chance.random() < 0.3}

    def asks(self, wire: dict[str, Any], pk: int, one: Held) -> bool:
        seq = list(self.records).index(pk) + 1  # sealed in the order of writing, before all else
        spans = {"from", "to", "first", "last"}
        return (
            all(one.columns[name] == value for name, value in wire.items() if name not in spans)
            and wire.get("first", seq) <= seq <= wire.get("last", seq)
            and wire.get("from", "") <= moment(one.at) < wire.get("to", "9")
        )

    def is_held(self, pk: int, one: Held) -> bool:
        return any(self.asks(wire, pk, one) for wire in self.standing.values())

    def is_due(self, one: Held, pk: int) -> bool:
        kind = one.columns["kind"]
        days = self.days.get(kind, 400)
        over = one.at < timezone.now() - timedelta(days=days)
        return over and kind not in NEVER and not self.is_held(pk, one)

    def check(self) -> None:
        assert verdict().good
        left = standing()
        assert {pk for pk in self.records if pk in left} == {
            pk for pk, one in self.records.items() if one.text
        }
        for pk, one in self.records.items():
            assert MaskedValue.objects.filter(record=pk).count() == one.values
        assert LegalHold.objects.standing().count() == len(self.standing)


@pytest.mark.parametrize("number", WORLDS)
def test_the_log_and_the_model_agree_after_every_step(number):
    world = World(random.Random(number))  # noqa: S311  (test data, no secret)
    world.fill()
    seal()
    for _ in range(STEPS):
        world.step()
        world.check()
