"""A sealed log with records of any age, texts with masked values, and hands on it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from toolpolicy.audit import sealer, writer
from toolpolicy.engine.masking import Spot
from toolpolicy.models import LegalHold, RecordBody
from toolpolicy.services import holds
from toolpolicy.services.actors import Actor

TESTS = Actor.system("tests")


def write(
    *,
    age: float = 0,
    kind: str = "decision",
    masked: Sequence[str] | Mapping[str, str] = (),
    context: Any = None,
    **index: Any,
) -> int:
    """Write a record as if so many days ago, with masked values in its context; return its id.

    What it covers was written then too: clocks are all that is pretended.
    """
    now = timezone.now() - timedelta(days=age)
    hidden = dict(masked) if isinstance(masked, Mapping) else _named(masked)
    spots = [Spot(path=("context", name), rule="key *", of="global") for name in hidden]
    body = {"context": {**(context or {}), **hidden}}
    with transaction.atomic(), mock.patch("toolpolicy.audit.writer.timezone.now", return_value=now):
        row = writer.write(kind=kind, body=body, index=writer.RecordIndex(**index), spots=spots)
    return row.pk


def _named(values: Sequence[str]) -> dict[str, str]:
    return {f"masked-{n}": value for n, value in enumerate(values)}


def seal() -> None:
    sealer.seal_all()


def hold(name: str = "case 7", **members: Any) -> LegalHold:
    filters = {name.rstrip("_"): value for name, value in members.items()}
    return holds.place(actor=TESTS, values={"name": name, "reason": "a claim", "filter": filters})


def standing() -> set[int]:
    """Return the ids of the records whose text stands."""
    return set(RecordBody.objects.values_list("pk", flat=True))


def told(kind: str) -> list[dict[str, Any]]:
    """Return the texts of the records of a kind."""
    texts = RecordBody.objects.filter(record__kind=kind).order_by("pk")
    return [json.loads(text) for text in texts.values_list("text", flat=True)]


@contextmanager
def settled(**values: Any) -> Iterator[None]:
    """Set settings of ours for a while."""
    with mock.patch.object(settings, "TOOLPOLICY", replace(settings.TOOLPOLICY, **values)):
        yield
