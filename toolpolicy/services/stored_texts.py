"""Texts that are kept under their digest, believed only where they are what it says.

A policy that somebody changed in the database must not decide: records would name another. What is
wrong with such a text is never the caller's fault, and is told as neither `NotFound` nor `Faults`.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from toolpolicy.engine import canonical
from toolpolicy.models import Document
from toolpolicy.services.errors import Altered, Lost

Made = TypeVar("Made")
# What reading a document of another form raises; `Faults` is a ValueError.
_OTHER_FORM: Final = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


def text_of(what: str, digest: str) -> str:
    """Return the document with this digest; `what` it is, in a word. One query.

    Raises `Lost`, and `Altered` where the stored text has another digest.
    """
    text = Document.objects.filter(digest=digest).values_list("text", flat=True).first()
    if text is None:
        raise Lost(f"{what} `{digest}`")
    return checked(what, digest, text)


def checked(what: str, digest: str, text: str) -> str:
    """Return a text that was read under a digest. Raises `Altered` where it has another."""
    if canonical.digest(text) != digest:
        raise Altered(
            f"the {what} `{digest}` is not what its digest says: it was changed in the database; "
            "`manage.py audit verify --full` names all such texts"
        )
    return text


def made_of(what: str, digest: str, form: str, make: Callable[[Any], Made]) -> Made:
    """Return what `make` makes of the document with this digest and `format`. One query.

    Raises what `text_of` does, and `Altered` where the document is of another form: of two stored
    documents, one can be named in the place of the other.
    """
    text = text_of(what, digest)
    try:
        document = json.loads(text)
        if document["format"] == form:
            return make(document)
    except _OTHER_FORM as error:
        raise _other(what, digest) from error
    raise _other(what, digest)


def _other(what: str, digest: str) -> Altered:
    return Altered(
        f"`{digest}`, which the database names as the {what}, is none: the database was changed"
    )
