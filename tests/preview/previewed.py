"""A rule previewed, and contexts that callers were seen with."""

from typing import Any

from django.utils import timezone

from toolpolicy.models import Layer, Rule, SeenContext
from toolpolicy.services import preview
from toolpolicy.services.preview import Preview


def saw(**values: list[str]) -> None:
    now = timezone.now()
    SeenContext.objects.bulk_create(
        SeenContext(key=key, value=value, first_seen_at=now)
        for key, some in values.items()
        for value in some
    )


def previewed(layer: Layer, rule: Rule | None = None, **values: Any) -> Preview:
    members = {name.removesuffix("_"): value for name, value in values.items()}
    return preview.of_rule(layer=layer, rule=rule, values=members, now=timezone.now())
