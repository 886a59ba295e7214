"""Filters of lists, each named. A test holds them against the columns of what they filter."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, cast

from django import forms
from django_filters import rest_framework as filters
from django_filters.fields import ChoiceField, IsoDateTimeField
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from toolpolicy.engine.faults import did_you_mean, shown
from toolpolicy.engine.words import Outcome, Surface
from toolpolicy.models.choices import (
    Combining,
    FamilyKind,
    FreezeKind,
    RecordKind,
    Scope,
    ToolState,
)
from toolpolicy.services.refusals import OUTCOME as REFUSED

LARGEST = 2**63 - 1


@extend_schema_field(OpenApiTypes.INT)
class WholeFilter(filters.NumberFilter):
    """A whole number that a column can hold."""

    field_class = forms.IntegerField

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=LARGEST, **kwargs)


def _check(value: Any, choices: Iterable[Any]) -> None:
    """Refuse a word that is none of these, and name the nearest or all. Nothing is no filter."""
    words = [str(word) for word, _ in choices if word]
    if value and value not in words:
        said = f"{shown(value)} is not a known word{did_you_mean(value, words)}"
        # As a parameter: a sign of per cent in what was sent is no place for one.
        raise forms.ValidationError("%(said)s", code="invalid_choice", params={"said": said})


class _WordField(ChoiceField):
    """One of some words."""

    def validate(self, value: Any) -> None:
        _check(value, self.choices)


class _SwitchField(forms.TypedChoiceField):
    """`true` or `false`."""

    def validate(self, value: Any) -> None:
        _check(value, cast("Iterable[Any]", self.choices))


class WordFilter(filters.ChoiceFilter):
    """One of some words."""

    field_class = _WordField


@extend_schema_field(OpenApiTypes.BOOL)
class SwitchFilter(filters.TypedChoiceFilter):
    """`true` or `false`; the stock filter ignores any other word."""

    field_class = _SwitchField

    def __init__(self, **kwargs: Any) -> None:
        choices = (("true", "true"), ("false", "false"))
        super().__init__(choices=choices, coerce=lambda text: text == "true", **kwargs)


class _MomentField(IsoDateTimeField):
    """A time that has a place in UTC; year 1 east of Greenwich has none."""

    def clean(self, value: Any) -> datetime | None:
        moment: datetime | None = super().clean(value)
        try:
            return None if moment is None else moment.astimezone(UTC)
        except OverflowError:
            raise forms.ValidationError(self.error_messages["invalid"]) from None


@extend_schema_field(OpenApiTypes.DATETIME)
class MomentFilter(filters.IsoDateTimeFilter):
    """A time as RFC 3339 writes it."""

    field_class = _MomentField


def word(words: Any, **kwargs: Any) -> WordFilter:
    """Return a filter that takes one of `words`."""
    return WordFilter(choices=[(str(one), str(one)) for one in words], **kwargs)


def since(field: str) -> MomentFilter:
    """Return a filter for what is at or after a time."""
    return MomentFilter(field_name=field, lookup_expr="gte")


def until(field: str) -> MomentFilter:
    """Return a filter for what is before a time."""
    return MomentFilter(field_name=field, lookup_expr="lt")


class LayerFilters(filters.FilterSet):
    """Filters of layers."""

    name = filters.CharFilter()
    scope = word(Scope.values)
    combining = word(Combining.values)
    enabled = SwitchFilter()
    observe = SwitchFilter()


class RuleFilters(filters.FilterSet):
    """Filters of rules."""

    layer = WholeFilter(field_name="layer_id")
    id = filters.CharFilter(field_name="rule_id")
    effect = filters.CharFilter()
    enabled = SwitchFilter()
    observe = SwitchFilter()


class VersionFilters(filters.FilterSet):
    """Filters of policy versions."""

    digest = filters.CharFilter(field_name="document_id")
    published_by = filters.CharFilter(field_name="published_by_label")
    published_since = since("published_at")
    published_before = until("published_at")


class FamilyFilters(filters.FilterSet):
    """Filters of tool families."""

    name = filters.CharFilter()
    kind = word(FamilyKind.values)
    trusted = SwitchFilter()


class ToolFilters(filters.FilterSet):
    """Filters of registered tools."""

    family = filters.CharFilter(field_name="family__name")
    name = filters.CharFilter()
    state = word(ToolState.values)
    vanished = SwitchFilter(field_name="vanished_at", lookup_expr="isnull", exclude=True)


class ClientFilters(filters.FilterSet):
    """Filters of API keys."""

    name = filters.CharFilter()
    key_id = filters.CharFilter()
    owner = filters.CharFilter(field_name="owner_label")


class FreezeFilters(filters.FilterSet):
    """Filters of freezes."""

    kind = word(FreezeKind.values)
    value = filters.CharFilter()
    lifted = SwitchFilter(field_name="lifted_at", lookup_expr="isnull", exclude=True)


class HoldFilters(filters.FilterSet):
    """Filters of legal holds."""

    name = filters.CharFilter()
    lifted = SwitchFilter(field_name="lifted_at", lookup_expr="isnull", exclude=True)


class RecordFilters(filters.FilterSet):
    """Filters of records: every column but its own number and whose key it is."""

    decision_id = filters.UUIDFilter(field_name="uid")
    kind = word(RecordKind.values)
    since = since("at")
    before = until("at")
    writer_id = filters.CharFilter()
    writer_n = WholeFilter()
    leaf_hash = filters.CharFilter()
    surface = word(Surface)
    outcome = word((*Outcome, REFUSED))
    reason_code = filters.CharFilter()
    family = filters.CharFilter()
    tool = filters.CharFilter()
    agent = filters.CharFilter()
    channel = filters.CharFilter()
    session = filters.CharFilter()
    layer = filters.CharFilter()
    rule = filters.CharFilter()
    policy_version = WholeFilter()
    actor = filters.CharFilter(field_name="actor_label")
    object = filters.CharFilter(field_name="object_label")
    request_id = filters.CharFilter()
    idempotency_key = filters.CharFilter()
    request_digest = filters.CharFilter()
