"""Forms that make something: one that is sent twice makes it once.

The page of such a form has a token. With who sends it and what is filled in, it stands for one
press of the button: an impatient second one, from a browser without script too, finds the first.
Both calls belong in the transaction of what is made.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.utils import timezone

from toolpolicy.models import SentForm
from toolpolicy.services.actors import Actor

KEPT: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, repr=False)
class Press:
    """A form as it was sent: the token of its page, and the fields with their values."""

    actor: Actor
    token: str
    values: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, actor: Actor, token: str, values: Iterable[tuple[str, list[str]]]) -> "Press":
        """Return what was sent, whatever the order of its fields."""
        return cls(actor, token, tuple(sorted((name, tuple(some)) for name, some in values)))

    @property
    def seed(self) -> bytes:
        """What a secret can be made of: only who has the page knows it."""
        return json.dumps([self.actor.wire(), self.token, self.values]).encode()

    @property
    def digest(self) -> str:
        """What is stored of it."""
        return hashlib.sha256(self.seed).hexdigest()


def begin(*, press: Press) -> str | None:
    """Return where this form led; None the first time, which is noted.

    A form that is being sent at this moment is waited for. Three queries at most.
    """
    held, first = SentForm.objects.get_or_create(digest=press.digest)
    if not first:
        return held.led_to
    SentForm.objects.filter(at__lt=timezone.now() - KEPT).delete()
    return None


def end(*, press: Press, led_to: str) -> None:
    """Note where the form led; "": it made nothing, and may be sent again."""
    held = SentForm.objects.filter(digest=press.digest)
    if led_to:
        held.update(led_to=led_to)
    else:
        held.delete()
