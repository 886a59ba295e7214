"""Filters of lists that ask in words whether a moment has come."""

from collections.abc import Iterable
from typing import ClassVar

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.marks import OUTCOMES
from toolpolicy.admin.words import Words
from toolpolicy.engine.words import Outcome


class Whether(SimpleListFilter):
    """Whether a column holds a moment: `no` while it is empty, `yes` once it is set."""

    column: ClassVar[str]
    words: ClassVar[tuple[Words, Words]]

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Iterable[tuple[str, Words]]:
        """Offer both."""
        return tuple(zip(("no", "yes"), self.words, strict=True))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep what was chosen; anything else keeps all."""
        empty = {"no": True, "yes": False}.get(self.value() or "")
        return queryset if empty is None else queryset.filter(**{f"{self.column}__isnull": empty})


class Answered(SimpleListFilter):
    """Counts of one outcome. The words are known: the database is not asked which there are."""

    title, parameter_name = _("outcome"), "outcome"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Iterable[tuple[str, Words]]:
        """Offer every outcome."""
        return tuple((str(outcome), OUTCOMES[outcome][0]) for outcome in Outcome)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep what was chosen."""
        return queryset.filter(outcome=self.value()) if self.value() else queryset


class Lifted(Whether):
    """Freezes or holds that stand, or were lifted."""

    title, parameter_name, column = _("state"), "lifted", "lifted_at"
    words = (_("not lifted"), _("lifted"))


class Revoked(Whether):
    """Keys that work, or were revoked."""

    title, parameter_name, column = _("state"), "revoked", "revoked_at"
    words = (_("not revoked"), _("revoked"))


class Vanished(Whether):
    """Tools that their server still offers, or no longer."""

    title, parameter_name, column = _("offered"), "vanished", "vanished_at"
    words = (_("still offered"), _("no longer offered"))
