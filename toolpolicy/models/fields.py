"""The column type of stored JSON documents."""

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


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
