"""What was sent between the two steps of its import, held on the server.

The fields of a form are bounded far below what an import takes, so that it cannot travel through
the page. It is held as a session of its own beside the person's: every worker finds it,
and it ends by itself.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest

SECONDS: Final = 3600
_OWNER, _UPLOAD = "toolpolicy_owner", "toolpolicy_upload"


def hold(request: HttpRequest, upload: Mapping[str, Any]) -> str:
    """Hold JSON values for the person who sent them and return their key. What has expired goes."""
    SessionStore.clear_expired()
    store = SessionStore()
    store.update({_OWNER: request.user.pk, _UPLOAD: dict(upload)})
    store.set_expiry(SECONDS)
    store.save()
    return str(store.session_key)


def held(request: HttpRequest, key: str) -> dict[str, Any] | None:
    """Return what this person holds under the key; None when it is there no longer."""
    store = SessionStore(session_key=key)
    upload: dict[str, Any] | None = store.get(_UPLOAD)
    return upload if store.get(_OWNER) == request.user.pk else None


def drop(key: str) -> None:
    """Hold it no longer."""
    SessionStore(session_key=key).delete()
