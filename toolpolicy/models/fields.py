"""The column type of stored JSON documents, and the look-up of times that are none."""

import json
from typing import Any, Final

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler


class ExactJSONField(models.JSONField):
    """JSON kept as text, so that what is read is what was written, on every database.

    PostgreSQL's `jsonb` rewrites numbers (1e16 comes back as an integer, -0.0 as 0), which would
    show as a change of a policy that nobody changed. There are no look-ups into the document.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """Return plain text for every vendor."""
        del connection
        return "text"

    def get_db_prep_value(
        self,
        value: Any,
        connection: BaseDatabaseWrapper,
        prepared: bool = False,  # noqa: FBT001, FBT002  (Django's signature)
    ) -> str | None:
        """Return the JSON text of `value`; None is the SQL null."""
        del connection, prepared
        return None if value is None else json.dumps(value, ensure_ascii=False)


# As Django writes times to SQLite: with six digits after the point, or without it.
_DIGIT: Final = "[0-9]"
_TIME: Final = "9999-[01]9-[0-3]9 [0-2]9:[0-5]9:[0-5]9".replace("9", "[0-9]")
_UNREADABLE: Final = {
    "sqlite": f"({{0}} NOT GLOB '{_TIME}' AND {{0}} NOT GLOB '{_TIME}.{_DIGIT * 6}')",
    "postgresql": "NOT isfinite({0})",
}


def unreadable_time(column: str, vendor: str) -> str:
    """Return the SQL that tells whether a column holds what is no time; null is none of these.

    SQLite keeps anything in any column, and Django reads None of most of it.
    """
    return _UNREADABLE[vendor].format(column)


@models.DateTimeField.register_lookup
class Unreadable(models.Lookup):
    """`at__unreadable=True`: the column holds something that is no time."""

    lookup_name = "unreadable"
    prepare_rhs = False

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        """Return the condition; there is no look-up of what is readable."""
        column, _ = self.process_lhs(compiler, connection)
        return unreadable_time(column, connection.vendor), ()
