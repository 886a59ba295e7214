"""A record's header as the database writes it: the same bytes as `headers.header`, much faster.

It is only read to be hashed: whatever a row holds, what comes out is the header that was sealed or
it is not. Never raises for a value, also not for one that no column should hold.
"""

from typing import Any, Final

from django.db import connection
from django.db.models import CharField, Field

from toolpolicy.audit.headers import COLUMNS, FORM
from toolpolicy.models import Record

_POSTGRESQL: Final = "postgresql"


def on_postgresql() -> bool:
    """Tell which of the two databases it is."""
    return connection.vendor == _POSTGRESQL


def moment(column: str) -> str:
    """Return the SQL of a time as `headers.moment` writes it."""
    if on_postgresql():
        return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    # SQLite's text leaves out the fraction of a whole second.
    day, time = f"substr({column}, 1, 10)", f"substr({column}, 12)"
    return f"{day} || 'T' || {time} || substr('.000000', length({column}) - 18) || 'Z'"


def raw(expression: str) -> str:
    """Return the SQL of a text as bytes where the database may hold what is no UTF-8."""
    return expression if on_postgresql() else f"CAST({expression} AS BLOB)"


def number(column: str) -> str:
    """Return the SQL of a number; NULL where the database may hold something else."""
    if on_postgresql():
        return column
    return f"CASE WHEN typeof({column}) IN ('text', 'blob') THEN NULL ELSE {column} END"


def header(table: str) -> str:
    """Return the SQL of the header of a record in `table`."""
    values = [_value(f"{table}.{_column(name)}", name) for name in COLUMNS]
    if on_postgresql():
        members = " || ',' || ".join(f"coalesce({value}, 'null')" for value in values)
        return f"""'["{FORM}",' || {members} || ']'"""
    return raw(f"json_array('{FORM}', {', '.join(values)})")


def _value(column: str, name: str) -> str:
    if name == "uid":
        return _uid(column)
    if name == "at":
        return _quoted(moment(column)) if on_postgresql() else moment(column)
    if on_postgresql():
        return f"to_json({column})::text"
    # A blob would be an error in JSON. What makes text of it leaves text as it is, and is fast.
    if isinstance(_field(name), CharField):
        return f"{column} || ''"
    return f"CASE typeof({column}) WHEN 'blob' THEN hex({column}) ELSE {column} END"


def _uid(column: str) -> str:
    if on_postgresql():
        return _quoted(f"{column}::text")
    ends = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 99))
    return " || '-' || ".join(f"substr({column}, {first}, {length})" for first, length in ends)


def _quoted(text: str) -> str:
    return f"""'"' || {text} || '"'"""


def _column(name: str) -> str:
    return str(_field(name).column)


def _field(name: str) -> "Field[Any, Any]":
    """Return the field whose values stand in a column of the header; `client_id` is `client`."""
    return next(one for one in Record._meta.concrete_fields if one.attname == name)  # noqa: SLF001
