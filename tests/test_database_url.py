"""`DATABASE_URL`: the two databases, their options, and addresses that mean nothing."""

from pathlib import Path

import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from project.database import parse_database_url

BASE = Path("/srv/app")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///db.sqlite3", "/srv/app/db.sqlite3"),
        ("sqlite:////var/lib/tool%20policy.db", "/var/lib/tool policy.db"),
        ("sqlite:///data/x.db", "/srv/app/data/x.db"),
    ],
)
def test_sqlite_paths_are_relative_to_the_product_or_absolute(url, path):
    assert parse_database_url(url, BASE)["NAME"] == Path(path)


def test_a_postgresql_address_gives_its_parts_decoded():
    url = "postgresql://us%40er:p%2Fa%3Ass@db.example:6432/tool%20policy?sslmode=require"
    parsed = parse_database_url(url, BASE)
    assert parsed["ENGINE"] == "django.db.backends.postgresql"
    names = ("USER", "PASSWORD", "HOST", "PORT", "NAME")
    assert [parsed[name] for name in names] == [
        "us@er", "p/a:ss", "db.example", "6432", "tool policy",
    ]  # fmt: skip
    assert parsed["OPTIONS"] == {"sslmode": "require"}


def test_a_postgresql_socket_is_a_parameter():
    parsed = parse_database_url("postgres:///toolpolicy?host=/run/postgresql", BASE)
    assert (parsed["HOST"], parsed["PORT"], parsed["USER"]) == ("/run/postgresql", "", "")


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("", "unknown scheme"),
        ("db.sqlite3", "unknown scheme"),
        ("mysql://u:s3cret@h/n", "unknown scheme `mysql`"),
        ("sqlite://db.sqlite3", "no SQLite address"),
        ("sqlite:///", "no SQLite address"),
        ("sqlite:///x?mode=ro", "no SQLite address"),
        ("sqlite:///:memory:", "in memory"),
        ("postgresql://u:s3cret@h", "names no database"),
        ("postgresql://u:s3cret@h/a/b", "names no database"),
        ("postgresql://u:s3cret@h/n?sslmod=require", "unknown parameter `sslmod`"),
        ("postgresql://u:s3cret@h:x/n", "cannot be read"),
        ("postgresql://u:s3cret/@h/n", "cannot be read"),
        ("postgresql://u:s3cret@[h/n", "cannot be read"),
    ],
)
def test_a_meaningless_address_is_refused_without_showing_its_password(url, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        parse_database_url(url, BASE)
    assert "s3cret" not in str(caught.value)


@pytest.fixture
def connect(tmp_path, django_db_blocker):
    """Give a function that opens one more connection to a SQLite file of the product's kind."""
    opened = []

    def open_one(timeout=20):
        described = parse_database_url("sqlite:///test.db", tmp_path)
        described["OPTIONS"]["timeout"] = timeout
        connection = ConnectionHandler({"default": described})["default"]
        opened.append(connection)
        return connection

    with django_db_blocker.unblock():
        yield open_one
        for connection in opened:
            connection.close()


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
)
def test_a_sqlite_connection_is_durable_and_keeps_references_whole(connect, pragma, value):
    with connect().cursor() as cursor:
        assert cursor.execute(f"PRAGMA {pragma}").fetchone() == (value,)


def test_a_sqlite_transaction_takes_the_write_lock_when_it_begins(connect):
    first, second = connect(), connect(timeout=0)
    first.set_autocommit(False)
    first._start_transaction_under_autocommit()
    with pytest.raises(OperationalError, match="locked"), second.cursor() as cursor:
        cursor.execute("CREATE TABLE written (id INTEGER)")
    first.rollback()
