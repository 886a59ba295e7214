"""One database address, as `DATABASE_URL` gives it, in Django's terms."""

from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

# Handed to libpq as they are; any other parameter is a mistake worth stopping for.
POSTGRESQL_PARAMETERS = frozenset(
    {"application_name", "connect_timeout", "sslcert", "sslkey", "sslmode", "sslrootcert"}
)
FORMS = "`sqlite:///path` or `postgresql://user:password@host:port/name`"


def parse_database_url(url: str, base: Path) -> dict[str, Any]:
    """Return Django's description of the database that `url` names.

    A relative SQLite path is taken from `base`; four slashes make it absolute. Raise ValueError
    with what is wrong. The message never holds the address, which may hold a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"cannot be read as an address; it may be {FORMS}") from None
    match parts.scheme:
        case "sqlite":
            return _sqlite(parts, base)
        case "postgresql" | "postgres":
            return _postgresql(parts, port)
        case _:
            raise ValueError(f"has the unknown scheme `{parts.scheme}`; it may be {FORMS}")


def _sqlite(parts: SplitResult, base: Path) -> dict[str, Any]:
    path = unquote(parts.path).removeprefix("/")
    if parts.netloc or parts.query or not path:
        raise ValueError("is no SQLite address; it may be `sqlite:///path`")
    if path == ":memory:":
        raise ValueError("names a database in memory, which each thread would have for itself")
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": base / path,
        # A connection is one writer of records: keep it as long as its thread lives.
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # Seconds a writer waits for another one's commit.
            "timeout": 20,
            # A transaction that reads and then writes would fail at once, whatever the timeout.
            "transaction_mode": "IMMEDIATE",
            # FULL: an answered decision's record survives a power cut.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
        },
    }


def _postgresql(parts: SplitResult, port: int | None) -> dict[str, Any]:
    name = unquote(parts.path.removeprefix("/"))
    if not name or "/" in name:
        raise ValueError(f"names no database; it may be {FORMS}")
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    # A socket's folder cannot stand where a host stands, so libpq takes it as a parameter.
    host = parameters.pop("host", unquote(parts.hostname or ""))
    unknown = sorted(set(parameters) - POSTGRESQL_PARAMETERS)
    if unknown:
        known = ", ".join(sorted(POSTGRESQL_PARAMETERS | {"host"}))
        raise ValueError(f"has the unknown parameter `{unknown[0]}`; known are {known}")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 600,
        # A connection the server closed meanwhile is replaced before a request meets it.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": parameters,
    }
