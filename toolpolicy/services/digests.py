"""The digest by which records name the body of a request."""

from typing import Final

from django.utils.crypto import salted_hmac

_FORM: Final = "hmac"


def request_digest(data: bytes) -> str:
    """Return a keyed digest of a body: the same body has the same one, and none can be guessed.

    A plain digest would tell, of a body that is known but for one value, which value that was. The
    key is derived from SECRET_KEY, so that a repeat is not known as one across its change.
    """
    found = salted_hmac("toolpolicy.request", data, algorithm="sha256")
    return f"{_FORM}:{found.hexdigest()}"
