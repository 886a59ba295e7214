"""A record's header as the database writes it: the same bytes as `headers.header`, much faster.

It is only read to be hashed: whatever a row holds, what comes out is the header that was sealed or
it is not. Never raises for a value, also not for one that no column should hold.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from django.db import DatabaseError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import CharField, DateTimeField, Field, UUIDField

from toolpolicy.audit.headers import COLUMNS, FORM
from toolpolicy.models import Record

_POSTGRESQL: Final = "postgresql"
_SIMPLY: Final = (
    "set_config('jit', 'off', %s), set_config('max_parallel_workers_per_gather', '0', %s)"
)
_MARK: Final = "\\x01"
NO_JSON: Final = "JSON cannot hold BLOB values"


def on_postgresql() -> bool:
    """Tell which of the two databases it is."""
    return connection.vendor == _POSTGRESQL


@contextmanager
def simple_plans() -> Iterator[None]:
    """Let PostgreSQL read rows in its simplest way, until this ends.

    Where it has no statistics it takes a thousand rows for many more, and would compile the query
    and share it out among processes: that takes ten times as long as reading them.
    """
    if not on_postgresql():
        yield
        return
    local = connection.in_atomic_block
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_SIMPLY}", [local, local])
    try:
        yield
    finally:
        if not local:
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("RESET jit; RESET max_parallel_workers_per_gather")


def moment(column: str) -> str:
    """Return the SQL of a time as `headers.moment` writes it."""
    if on_postgresql():
        return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    # SQLite's text leaves out the fraction of a whole second.
    day, time = f"substr({column}, 1, 10)", f"substr({column}, 12)"
    return f"{day} || 'T' || {time} || substr('.000000', length({column}) - 18) || 'Z'"


def fetched(query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what a query reads; texts are bytes as they are stored, where SQLite is asked `raw`.

    The queries of a verification read very many texts, only to hash them.
    """
    with _cursor() as cursor:
        cursor.execute(query, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def _cursor() -> CursorWrapper:
    if not on_postgresql():
        return connection.cursor()
    # Where there is only SQLite, no driver of PostgreSQL need be.
    from psycopg import Cursor  # noqa: PLC0415
    from psycopg.pq import Format  # noqa: PLC0415
    from psycopg.types.string import ByteaBinaryLoader  # noqa: PLC0415

    connection.ensure_connection()
    # Django's own cursor takes no results in binary form, in which a text is its bytes.
    cursor: Cursor[Any] = Cursor(connection.connection)
    cursor.format = Format.BINARY
    for type_name in ("text", "varchar"):
        cursor.adapters.register_loader(type_name, ByteaBinaryLoader)
    return connection.make_cursor(cursor)  # type: ignore[arg-type]  # a driver's, not yet wrapped


def raw(expression: str) -> str:
    """Return the SQL of a text as `fetched` gives it as bytes: SQLite may hold what is no UTF-8."""
    return expression if on_postgresql() else f"CAST({expression} AS BLOB)"


def text(value: object) -> str:
    """Return what `raw` gives as text; what is no UTF-8 in it is replaced."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def number(column: str) -> str:
    """Return the SQL of a number; NULL where the database may hold something else."""
    if on_postgresql():
        return column
    return f"CASE WHEN typeof({column}) IN ('text', 'blob') THEN NULL ELSE {column} END"


def in_hex(digests: Sequence[bytes]) -> list[bytes]:
    """Return digests as `raw` gives a column back that holds them in hex."""
    return [digest.hex().encode() for digest in digests]


def header(table: str) -> str:
    """Return the SQL of the header of a record in `table`, whatever the record holds."""
    columns = _columns(table)
    if not on_postgresql():
        values = ", ".join(_value(column, name) for name, column in columns.items())
        return raw(f"json_array('{FORM}', {values})")
    parts, texts = [], [f"'{FORM}'"]
    for name, column in columns.items():
        if _is_text(name):
            texts.append(moment(column) if name == "at" else f"{column}::text")
        else:
            # Its texts are escaped much faster as arrays than one by one.
            parts += [_array(texts), f"E'{_MARK}'", _number_text(column), f"E'{_MARK}'"]
            texts = []
    marked = f"concat({', '.join([*parts, _array(texts)])})"
    return f"replace(replace({marked}, E']{_MARK}', ','), E'{_MARK}[', ',')"


def plain_header(table: str) -> str:
    """Return the SQL of a header that is made faster: right where `are_plain` says so.

    NULL where a column is that has no business to be. SQLite raises `NO_JSON` for one that holds
    a blob; else all its headers are right.
    """
    columns = _columns(table)
    if not on_postgresql():
        made = {"uid": _uid, "at": moment}
        values = ", ".join(made.get(name, str)(column) for name, column in columns.items())
        return raw(f"json_array('{FORM}', {values})")
    # Each `||` copies all that is before it: what always stands between two values is one text.
    parts, between = [], f'["{FORM}"'
    for name, column in columns.items():
        if _is_text(name):
            said = moment(column) if name == "at" else f"{column}::text"
            parts += [f"""'{between},"'""", said]
            between = '"'
        else:
            parts += [f"'{between},'", _number_text(column)]
            between = ""
    return " || ".join([*parts, f"'{between}]'"])


def are_plain(headers: Sequence[bytes]) -> bool:
    """Tell whether `plain_header` made these as `header` would.

    It escapes nothing. A header that is right holds no escape and just its own quotes; and where
    one that was altered holds what needs no escape, its texts end where they should.
    """
    if not on_postgresql():
        return True
    whole = b"".join(headers)
    return b"\\" not in whole and whole.count(b'"') == _QUOTES * len(headers)


def _array(texts: list[str]) -> str:
    return f"array_to_json(ARRAY[{', '.join(texts)}])"


def _number_text(column: str) -> str:
    return f"coalesce({column}::text, 'null')"


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


def _columns(table: str) -> dict[str, str]:
    return {name: f"{table}.{_field(name).column}" for name in COLUMNS}


def _is_text(name: str) -> bool:
    return isinstance(_field(name), CharField | UUIDField | DateTimeField)


def _field(name: str) -> "Field[Any, Any]":
    """Return the field whose values stand in a column of the header; `client_id` is `client`."""
    return next(one for one in Record._meta.concrete_fields if one.attname == name)  # noqa: SLF001


_QUOTES: Final = 2 * (1 + sum(map(_is_text, COLUMNS)))
"""So many quotes has a header whose texts have none, with the form before them."""
