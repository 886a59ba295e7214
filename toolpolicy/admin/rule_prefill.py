"""A new rule that another page has filled in: what its address says, where it can be read."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext

from toolpolicy.admin.faults import sentence
from toolpolicy.admin.words import filled
from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Faults

TEXTS: Final = ("effect", "reason", "id")
OBJECTS: Final[Mapping[str, type]] = {"match": dict, "except": dict, "when": dict, "on": list}


def prefill(request: HttpRequest) -> dict[str, Any]:
    """Return the members of a rule that the address gives; say of each that cannot be read so."""
    found: dict[str, Any] = {name: text for name in TEXTS if (text := request.GET.get(name))}
    for name, kind in OBJECTS.items():
        text = request.GET.get(name)
        if not text:
            continue
        try:
            value = strictjson.loads(text.encode("utf-8", "surrogatepass"))
        except Faults as refused:
            faults = format_html_join("; ", "{}", ((sentence(one),) for one in refused.faults))
            said = gettext("`%(name)s` of the address was left out: %(faults)s")
            messages.warning(request, filled(said, name=name, faults=faults))
            continue
        if isinstance(value, kind):
            found[name] = value
    return found
