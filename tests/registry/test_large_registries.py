"""Registries of ten thousand tools: the work grows with their number, and a change costs little."""

import gc
import json
import weakref
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.registry.samples import ADMIN, imported, tool
from tests.timing import assert_times, seconds
from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Faults
from toolpolicy.models import Tool
from toolpolicy.services import _registry_plan, registry, registry_store
from toolpolicy.services._registry_import import BYTES_PER_TOKEN

pytestmark = pytest.mark.django_db


def listed(count: int, family: str = "box", said: str = "Does it.") -> dict[str, Any]:
    properties = {name: {"type": "string", "description": said} for name in ("path", "to")}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    return {
        "tools": [
            tool(f"{family}_{number:05}", description=said, inputSchema=schema)
            for number in range(count)
        ]
    }


def one_changed(document: dict[str, Any]) -> dict[str, Any]:
    first, *others = document["tools"]
    return {"tools": [first | {"description": "Does more."}, *others]}


def registered(count: int, family: str = "box") -> None:
    imported(listed(count, family), family=family)


def seconds_of(count: int, attempt: int) -> list[float]:
    """Return how long it takes to register so many tools, to see them again and to change all."""
    family = f"of_{count}_{attempt}"

    def register(said: str) -> float:
        document = listed(count, family, said)
        return seconds(lambda: imported(document, family=family))

    took = [register(said) for said in ("New.", "New.", "Changed.")]
    assert Tool.objects.filter(family__name=family, state="changed").count() == count
    return took


def times_as_long(attempt: int) -> float:
    one, ten = seconds_of(1_000, attempt), seconds_of(10_000, attempt)
    return max(more / less for less, more in zip(one, ten, strict=True))


def test_ten_thousand_tools_cost_about_ten_times_a_thousand():
    assert_times(15, times_as_long)


def test_a_list_within_the_size_is_not_refused_for_its_tokens():
    """Published lists have five bytes to a token at the least."""
    limits = registry.import_limits()
    text = b'{"tools": [' + b'["a"], [],' * 100 + b"[]]}"
    tight = replace(limits, size=len(text), tokens=len(text) // BYTES_PER_TOKEN)
    assert limits.tokens >= limits.size // 5 >= 4_000_000
    with pytest.raises(Faults, match="more than"):
        strictjson.loads(text, tight)
    said = "Lists what is there, page by page, and says how many there are."
    published_like = json.dumps(listed(200, said=said)).encode()
    tight = replace(limits, size=len(published_like), tokens=len(published_like) // BYTES_PER_TOKEN)
    assert len(strictjson.loads(published_like, tight)["tools"]) == 200


def test_an_import_costs_as_many_reads_for_a_thousand_tools_as_for_fifty():
    """Rows are written in batches, as many to a statement as the database takes values."""

    def reads(document: dict[str, Any], family: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            imported(document, family=family)
        return sum(not query["sql"].startswith("INSERT") for query in captured)

    imported(listed(1, "warm"), family="warm")
    few, many = (
        [
            listed(count, family),
            listed(count, family),
            one_changed(listed(count, family)),
            listed(count, family, "New."),
        ]
        for count, family in ((50, "few"), (1_000, "many"))
    )
    assert [reads(one, "few") for one in few] == [reads(one, "many") for one in many]


def test_a_registry_one_change_away_shares_every_other_tool():
    registered(5)
    before = registry.live()
    imported(one_changed(listed(5)))
    with CaptureQueriesContext(connection) as captured:
        after = registry.live()
    changed = [new.name for old, new in zip(before, after, strict=True) if new is not old]
    assert changed == ["box_00000"]
    # The state, the snapshot, and the one declaration that is not known yet.
    assert len(captured) == 3
    assert captured[-1]["sql"].count("sha256:") == 1


def test_a_registry_whose_tools_are_all_known_reads_no_declaration():
    registered(3)
    before = registry.live()
    registry.retire_tool(actor=ADMIN, family="box", name="box_00000")
    registry.live()
    registry.review_tool(
        actor=ADMIN,
        family="box",
        name="box_00000",
        declaration=Tool.objects.get(name="box_00000").current_id,
    )
    registry.load.cache_clear()
    with CaptureQueriesContext(connection) as captured:
        after = registry.live()
    assert [new is old for old, new in zip(before, after, strict=True)] == [True, True, True]
    assert len(captured) == 2


def test_tools_of_registries_that_nobody_holds_leave_the_memory():
    registered(3, "forgotten")
    held = weakref.ref(registry.live().entries[0])
    assert held() is not None
    registry.load.cache_clear()
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("few", [0, 1, 500])
def test_many_declarations_are_read_as_few_are(few, monkeypatch):
    monkeypatch.setattr(registry_store, "FEW", few)
    monkeypatch.setattr(_registry_plan, "FEW", few)
    registered(4)
    first = registry.live()
    document = listed(4, said="Does it otherwise.")
    gone = document["tools"].pop()
    report = imported(document)
    assert [change.name for change in report.changed] == ["box_00000", "box_00001", "box_00002"]
    assert report.vanished == ("box_00003",)
    assert [one.subject.description for one in registry.live()][:3] == ["Does it otherwise."] * 3
    assert imported({"tools": [*document["tools"], gone]}).returned == ("box_00003",)
    registry.load.cache_clear()
    again = registry.load(report.wire()["registry"]["before"])
    assert [one.subject for one in again] == [one.subject for one in first]
