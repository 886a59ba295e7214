"""Forms that make something: pressed twice, they make it once, without script too."""

import secrets
from collections.abc import Callable
from typing import Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from toolpolicy.services import sent_forms
from toolpolicy.services.actors import Actor
from toolpolicy.services.sent_forms import Press

FIELD: Final = "once"
_TOKEN_BYTES: Final = 24
# Both buttons of a form ask for the same.
_BUTTON: Final = "_"


def token_of(request: HttpRequest) -> str:
    """Return the token for the page of a form: its own again where it was wrong, else a new one."""
    return request.POST.get(FIELD) or secrets.token_urlsafe(_TOKEN_BYTES)


def press_of(request: HttpRequest, actor: Actor) -> Press | None:
    """Return the form as this person sent it; None where its page had no token."""
    token = request.POST.get(FIELD, "")
    if not token:
        return None
    values = request.POST.lists()
    left_out = ("csrfmiddlewaretoken", FIELD)
    filled = (one for one in values if one[0] not in left_out and not one[0].startswith(_BUTTON))
    return Press.of(actor, token, filled)


def once(
    press: Press | None, act: Callable[[], HttpResponse], again: Callable[[str], HttpResponse]
) -> HttpResponse:
    """Do what a form asks for. Sent once more, it only leads to where it led, as `again` says."""
    if press is None:
        return act()
    with transaction.atomic():
        led_to = sent_forms.begin(press=press)
        if led_to is None:
            answer = act()
            sent_forms.end(press=press, led_to=answer.get("Location", ""))
            return answer
    return again(led_to)


def lead_there(request: HttpRequest, led_to: str) -> HttpResponse:
    """Go to where the first press led, and say so."""
    messages.info(request, _("The form was sent twice. It was done once."))
    return HttpResponseRedirect(led_to)
