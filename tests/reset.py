"""The one way to empty a database whose records nothing may delete.

Django empties the tables after each transactional test. Around that the triggers are lifted, and
what the migrations put in (groups, permissions, the state row) is put in again.
"""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connections
from django.test import TransactionTestCase

from toolpolicy.audit import triggers

empty = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs


def reset(test_case: TransactionTestCase) -> None:
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
