"""A report read whole, as its JSON file has it."""

import json
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.utils import timezone

from tests.factories import SYSTEM, make_user
from toolpolicy.services.actors import Actor
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.reports import ReportName, export


def around_now(**before: float) -> Period:
    """Return a period from so long before now, by default a day, to an hour after."""
    now = timezone.now()
    return Period(since=now - timedelta(**before or {"days": 1}), until=now + timedelta(hours=1))


def report(name: str, period: Period | None = None) -> dict[str, Any]:
    taken = export(actor=SYSTEM, name=ReportName(name), period=period or around_now(), form="json")
    found: dict[str, Any] = json.loads(taken.file.read())
    return found


def changes() -> list[dict[str, Any]]:
    """Return every change of the last day, those that stand out first."""
    found = report("changes")
    return [*found["exceptions"], *found["others"]]


def newest() -> dict[str, Any]:
    """Return the change that was made last."""
    return max(changes(), key=lambda entry: str(entry["at"]))


def person(username: str = "ada", *groups: str, superuser: bool = False) -> Any:
    user = make_user(username)
    user.is_superuser = superuser
    user.save()
    user.groups.set(Group.objects.filter(name__in=groups))
    return Actor.for_user(type(user).objects.get(pk=user.pk))
