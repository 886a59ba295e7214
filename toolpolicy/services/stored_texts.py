"""Texts that are kept under their digest, believed only where they are what it says.

A policy that somebody changed in the database must not decide: records would name another.
"""

from toolpolicy.engine import canonical
from toolpolicy.models import Document
from toolpolicy.services.errors import Altered, NotFound


def text_of(what: str, digest: str) -> str:
    """Return the document with this digest; `what` it is, in a word. One query.

    Raises `NotFound`, and `Altered` where the stored text has another digest.
    """
    text = Document.objects.filter(digest=digest).values_list("text", flat=True).first()
    if text is None:
        raise NotFound(f"{what} `{digest}`")
    return checked(what, digest, text)


def checked(what: str, digest: str, text: str) -> str:
    """Return a text that was read under a digest. Raises `Altered` where it has another."""
    if canonical.digest(text) != digest:
        raise Altered(f"{what} `{digest}`")
    return text
