"""Values that no column should hold, where the owner of a database put them there anyway."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import DataError, OperationalError

from toolpolicy import database_errors

_ERRORS: Final = (ValueError, TypeError, AttributeError, OverflowError)


class Unreadable(Exception):
    """A stored value is none that its column may have."""


@contextmanager
def reading() -> Iterator[None]:
    """Raise Unreadable for whatever Django and the drivers make of such values."""
    try:
        yield
    except DataError as error:
        raise Unreadable(database_errors.summary(error)) from error
    except _ERRORS as error:
        raise Unreadable(str(error)) from error
    except OperationalError as error:
        # SQLite keeps text that is none.
        if "decode" not in str(error):
            raise
        raise Unreadable(database_errors.summary(error)) from error
