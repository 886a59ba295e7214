"""The bounds of a preview: askers beyond them are counted, and its time grows with the tools."""

from typing import Any

import pytest

from tests.factories import make_layer, make_rule
from tests.preview.previewed import previewed, saw
from tests.registry.samples import imported, named
from tests.timing import assert_times, seconds
from toolpolicy.services._preview_contexts import MOST_COMBINED

pytestmark = pytest.mark.django_db


def test_combinations_beyond_the_bound_are_counted(layer):
    saw(agent=[f"a{n}" for n in range(60)], channel=[f"c{n}" for n in range(60)])
    found = previewed(layer, effect="deny", match={"name": "send"})
    assert len(found.askers) == MOST_COMBINED
    assert found.left_out == 61 * 61 - MOST_COMBINED


def test_kinds_of_askers_beyond_the_bound_are_counted(layer):
    saw(agent=[f"a{n}" for n in range(30)])
    for number in range(30):
        make_rule(layer, match={"name": "x"}, when={"agent": f"a{number}"})
    found = previewed(layer, effect="deny", match={"name": "send"})
    assert (len(found.askers), found.left_out) == (20, 11)


def test_ten_times_as_many_tools_in_twenty_kinds_of_context_take_about_ten_times_as_long():
    saw(agent=[f"a{n}" for n in range(25)], channel=["c0", "c1"])
    layer = make_layer()
    for number in range(25):
        make_rule(layer, match={"name": f"mcp__s{number}__*"}, when={"agent": f"a{number}"})

    def preview(tools: int) -> float:
        imported(named(*[f"mcp__s{n % 20}__do_{n}" for n in range(tools)]))
        values: dict[str, Any] = {"effect": "deny", "match": {}}
        assert len(previewed(layer, **values).tools) == tools
        return seconds(lambda: previewed(layer, **values), times=3)

    few = preview(100)
    assert_times(40, lambda _: preview(1_000) / few)
