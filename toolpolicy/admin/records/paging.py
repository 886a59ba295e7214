"""The list of records by id, what stands beside one of them, and lists of counts."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from django.core.paginator import Paginator
from django.http import HttpRequest, QueryDict
from django.utils.functional import cached_property

from toolpolicy.admin.keyset import KeysetList
from toolpolicy.admin.records.filtering import RecordFilter
from toolpolicy.models import Record

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet


class Capped(Paginator):
    """Pages of a list that grows for years: the newest ones, and no count of all of them."""

    MOST: Final = 2_000

    @cached_property
    def count(self) -> int:
        """Count no further than the list goes."""
        return cast("QuerySet[Model]", self.object_list)[: self.MOST].count()


class RecordList(KeysetList):
    """One page of records. Ids, not clocks, say what came later."""

    filter_form: RecordFilter

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        """Return the records that the form asks for, newest first."""
        self.filter_form = RecordFilter(request.GET)
        self.read_place(request)
        self.filter_specs, self.has_filters = [], False
        self.has_active_filters = bool(self.filter_form.used())
        self.clear_all_filters_qs = "?"
        return self.filter_form.narrow(Record.objects.newest_first())

    def narrowing(self) -> dict[str, str]:
        """Return what the form holds."""
        return self.filter_form.used()


class Neighbours(NamedTuple):
    """The records beside one in its list, by key; None at the end of it."""

    newer: int | None
    older: int | None


def neighbours(record: Record, filters: str) -> Neighbours:
    """Return what stands beside a record in the list with these filters, as its address has them.

    One query for each, and those that find where a span of time begins and ends.
    """
    found = RecordFilter(QueryDict(filters)).narrow(Record.objects.newest_first())
    keys = found.values_list("pk", flat=True)
    newer, older = keys.filter(pk__gt=record.pk).reverse(), keys.filter(pk__lt=record.pk)
    return Neighbours(newer.first(), older.first())
