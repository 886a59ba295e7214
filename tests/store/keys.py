"""Keys to try: made by the store, and refused by it."""

from typing import Any

import pytest
from django.db import connection

from tests.factories import SYSTEM
from toolpolicy.services import clients
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import KeyRefused


def create(actor: Actor = SYSTEM, **values: Any) -> Any:
    return clients.create(actor=actor, values={"name": "bot", **values})


def refusal(key: str) -> str:
    with pytest.raises(KeyRefused) as caught:
        clients.authenticate(key=key)
    return caught.value.code


def store(column, value):
    """Write into the database what no code of ours writes."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(f"UPDATE toolpolicy_apiclient SET {column} = %s", [value])  # noqa: S608
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
