"""Who changed what since a page was opened, for acts that a newer version refuses."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext

from toolpolicy.admin.base import told
from toolpolicy.engine.faults import printable
from toolpolicy.models import Layer, PolicyVersion, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.errors import Stale

MOST_TOLD = 5


@contextmanager
def told_of(request: HttpRequest, layer: Layer) -> Iterator[None]:
    """Turn what a service refuses into messages; of a stale act, who changed what meanwhile."""
    with told(request):
        try:
            yield
        except Stale as stale:
            changes = "; ".join(changes_of(layer, stale.found - stale.expected))
            if changes:
                said = gettext(
                    "“%(layer)s” was changed meanwhile: %(changes)s. Nothing was done, and this "
                    "is how it stands now."
                )
            else:
                said = gettext(
                    "“%(layer)s” was changed meanwhile. Nothing was done, and this is how it "
                    "stands now."
                )
            values = {"layer": printable(layer.name), "changes": changes}
            messages.error(request, said % values)


def changes_of(layer: Layer, count: int) -> list[str]:
    """Return the last changes of a layer in words, newest first, each with who made it."""
    records = Record.objects.filter(kind=RecordKind.CHANGE, layer=layer.name).newest_first()
    rows = records.values_list("actor_label", "policy_version")[: max(0, min(count, MOST_TOLD))]
    found = list(rows)
    numbers = [number for _, number in found if number is not None]
    comments = dict(
        PolicyVersion.objects.filter(number__in=numbers).values_list("number", "comment")
    )
    changed = gettext("changed it")
    return [f"{printable(who)} {comments.get(number or 0, changed)}" for who, number in found]
