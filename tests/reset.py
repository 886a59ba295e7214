"""The one way to empty a database whose records nothing may delete.

Django empties the tables after each transactional test. Around that the triggers are lifted, and
what the migrations put in (groups, permissions, the state row) is put in again.
"""

import threading
import time
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connections
from django.test import TransactionTestCase

from toolpolicy.audit import triggers

ANSWERING = "process_request_thread"
"""What a thread of a test's server is called, as long as it answers somebody."""
PATIENCE = 10  # seconds

empty = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs


def wait_for_answers() -> None:
    """Wait until no server of a test is in the middle of an answer to a page that is closed by now.

    It would hold the tables locked, or write into those that were emptied.
    """
    end = time.monotonic() + PATIENCE
    for thread in threading.enumerate():
        if ANSWERING in thread.name:
            thread.join(max(0, end - time.monotonic()))


def reset(test_case: TransactionTestCase) -> None:
    wait_for_answers()
    connection = connections["default"]
    with triggers.suspended(connection):
        empty(test_case)
    first_rows = import_module("toolpolicy.migrations.0003_first_rows")
    access = import_module("toolpolicy.migrations.0006_access")
    simulate = import_module("toolpolicy.migrations.0007_simulate")
    sees = import_module("toolpolicy.migrations.0010_who_sees_records")
    reports = import_module("toolpolicy.migrations.0015_reports")
    masking = import_module("toolpolicy.migrations.0016_masking")
    holds = import_module("toolpolicy.migrations.0019_holds")
    readers = import_module("toolpolicy.migrations.0020_audit_readers")
    grants = (simulate.grant, sees.grant, reports.grant, masking.first_row, holds.grant)
    for put in (first_rows.install, access.show, *grants, readers.make):
        put(apps, SimpleNamespace(connection=connection))
    import_module("toolpolicy.services.seen").forget()


@pytest.fixture(scope="session", autouse=True)
def _transactional_tests_reset_the_database():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", reset)
        yield
