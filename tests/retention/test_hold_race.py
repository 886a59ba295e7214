"""A hold that is placed while texts are deleted: what was answered as held is not deleted."""

import threading
import time

import pytest
from django.db import connection, connections

from tests.retention.worlds import TESTS, hold, seal, standing, write
from toolpolicy.services import holds, retention
from toolpolicy.services._deletion import alone

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="one transaction has all of SQLite"),
]


def test_a_hold_waits_for_the_batch_that_is_deleting_and_no_later_one_goes_past_it():
    kept = write(age=500, agent="coder")
    seal()
    order: list[str] = []

    def place() -> None:
        hold(agent="coder")
        order.append("placed")
        connections.close_all()

    placing = threading.Thread(target=place)
    with alone():
        placing.start()
        time.sleep(0.5)  # long enough to be placed, if nothing held it up
        assert holds.standing_filters() == []
        order.append("deleted")
    placing.join()
    assert order == ["deleted", "placed"]
    assert retention.prune(actor=TESTS).deleted.held == 1
    assert kept in standing()
