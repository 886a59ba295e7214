"""Counts come from the hourly use of rules, shards added up."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import make_layer
from toolpolicy.models import RuleUsage
from toolpolicy.services import usage

pytestmark = pytest.mark.django_db


def used(hours_ago, count, *, shard=0, **members):
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    plain = {"layer": "", "rule": "", "family": "kit", "tool": "get", "outcome": "allow"}
    RuleUsage.objects.create(
        hour=now - timedelta(hours=hours_ago), count=count, shard=shard, **plain | members
    )


def test_the_hits_of_a_rule_are_told_by_day_with_the_last_hour_ever(django_assert_num_queries):
    used(1, 2, layer="base", rule="a")
    used(1, 3, layer="base", rule="a", shard=1)
    used(2, 1, layer="base", rule="a", tool="set", outcome="deny")
    used(24 * 3, 4, layer="base", rule="a")
    used(24 * 30, 9, layer="base", rule="b")
    used(1, 7, layer="other", rule="a")
    with django_assert_num_queries(2):
        hits = usage.rule_hits("base")
    assert hits["a"].days in [(0, 0, 0, 4, 0, 0, 6), (0, 0, 4, 0, 0, 0, 6)]
    assert (hits["a"].total, hits["b"].total) == (10, 0)
    last = hits["b"].last
    assert last is not None
    assert timezone.now() - last > timedelta(days=29)
    assert set(hits) == {"a", "b"}


def test_layers_and_tools_are_counted_over_a_week(django_assert_num_queries):
    make_layer("base")
    used(1, 2, layer="base", rule="a")
    used(24 * 2, 2, layer="base", rule="b")
    used(24 * 8, 50, layer="base", rule="b")
    used(1, 3)
    used(1, 4, outcome="deny")
    used(1, 5, family="", tool="loose")
    with django_assert_num_queries(2):
        assert usage.layer_hits() == {"base": (0, 0, 0, 0, 2, 0, 2)}
    used(1, 1, tool="set")
    with django_assert_num_queries(1):
        assert usage.tool_calls(names=["get", "loose"]) == {("kit", "get"): 7, ("", "loose"): 5}
    RuleUsage.objects.filter(tool="set").delete()
    with django_assert_num_queries(1):
        assert usage.tool_calls() == {("kit", "get"): 7, ("", "loose"): 5}
    assert usage.tool_calls(outcome="deny") == {("kit", "get"): 4}


def test_the_hours_of_a_day_stand_in_order_empty_ones_too(django_assert_num_queries):
    used(0, 1)
    used(23, 2, outcome="deny")
    used(24, 9)
    used(3, 4, layer="base", rule="a")
    with django_assert_num_queries(1):
        hours = usage.hourly()
    assert [hour for hour, _ in hours] == sorted(hour for hour, _ in hours)
    assert len(hours) == 24
    assert hours[0][1] == Counter(deny=2)
    assert hours[-1][1] == Counter(allow=1)
    assert sum((count for _, count in hours), Counter()) == Counter(allow=1, deny=2)
