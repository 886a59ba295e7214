"""A record's header as the database writes it: the same bytes as `headers.header`, much faster.

It is only read to be hashed: whatever a row holds, what comes out is the header that was sealed or
it is not. Never raises for a value, also not for one that no column should hold.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connection
from django.db.models import CharField, DateTimeField, Field, UUIDField

from toolpolicy.audit.headers import COLUMNS, FORM
from toolpolicy.models import Record

_POSTGRESQL: Final = "postgresql"
_MARK: Final = "\\x01"
NO_JSON: Final = "JSON cannot hold BLOB values"
_CLOSED, _OPENED = "]\x01", "\x01["


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


def in_hex(digests: Sequence[bytes]) -> list[Any]:
    """Return digests as `raw` gives a column back that holds them in hex."""
    if on_postgresql():
        return [digest.hex() for digest in digests]
    return [digest.hex().encode() for digest in digests]


def header(table: str) -> str:
    """Return the SQL of the header of a record in `table`."""
    if not on_postgresql():
        values = ", ".join(_value(f"{table}.{_column(name)}", name) for name in COLUMNS)
        return raw(f"json_array('{FORM}', {values})")
    return f"replace(replace({marked_header(table)}, E']{_MARK}', ','), E'{_MARK}[', ',')"


def marked_header(table: str) -> str:
    """Return the SQL of a header that is made faster: `without_marks` makes it whole.

    PostgreSQL escapes texts much faster as one array than one by one; its numbers come in between.
    SQLite raises `NO_JSON` for a column that holds a blob.
    """
    columns = {name: f"{table}.{_column(name)}" for name in COLUMNS}
    if not on_postgresql():
        made = {"uid": _uid, "at": moment}
        values = ", ".join(made.get(name, str)(column) for name, column in columns.items())
        return raw(f"json_array('{FORM}', {values})")
    parts, texts = [], [f"'{FORM}'"]
    for name, column in columns.items():
        if isinstance(_field(name), CharField | UUIDField | DateTimeField):
            texts.append(moment(column) if name == "at" else f"{column}::text")
        else:
            number = f"coalesce({column}::text, 'null')"
            parts += [_array(texts), f"E'{_MARK}'", number, f"E'{_MARK}'"]
            texts = []
    return f"concat({', '.join([*parts, _array(texts)])})"


def without_marks(header: str | bytes) -> bytes:
    """Return a header that came marked. A text cannot hold a mark: JSON escapes it."""
    if isinstance(header, bytes):
        return header
    return header.replace(_CLOSED, ",").replace(_OPENED, ",").encode()


def _array(texts: list[str]) -> str:
    return f"array_to_json(ARRAY[{', '.join(texts)}])"


def _value(column: str, name: str) -> str:
    if name == "uid":
        return _uid(column)
    if name == "at":
        return moment(column)
    # A blob would be an error in JSON. What makes text of it leaves text as it is, and is fast.
    if isinstance(_field(name), CharField):
        return f"{column} || ''"
    return f"CASE typeof({column}) WHEN 'blob' THEN hex({column}) ELSE {column} END"


def _uid(column: str) -> str:
    ends = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 99))
    return " || '-' || ".join(f"substr({column}, {first}, {length})" for first, length in ends)


def _column(name: str) -> str:
    return str(_field(name).column)


def _field(name: str) -> "Field[Any, Any]":
    """Return the field whose values stand in a column of the header; `client_id` is `client`."""
    return next(one for one in Record._meta.concrete_fields if one.attname == name)  # noqa: SLF001
