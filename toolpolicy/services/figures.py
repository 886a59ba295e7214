"""What decisions are judged by, in a few figures for whoever watches the server."""

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count
from django.utils import timezone

from toolpolicy.models import PolicyState, Tool
from toolpolicy.services import freezes


class Published(NamedTuple):
    """The version that is live, and since when there is such a one."""

    number: int
    at: datetime


def published() -> Published | None:
    """Return which version is live, without its document. One query."""
    live = PolicyState.objects.filter(live__isnull=False)
    found = live.values_list("live__number", "live__published_at").first()
    return Published(*found) if found else None


def tools() -> Counter[str]:
    """Return how many tools are registered, by their state. One query."""
    return Counter(dict(Tool.objects.order_by().values_list("state").annotate(n=Count("pk"))))


def standing_freezes() -> int:
    """Return how many freezes stand now. One query."""
    return freezes.active(timezone.now()).count()
