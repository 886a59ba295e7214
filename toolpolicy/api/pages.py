"""Lists: cursor pages, and query parameters that are wrong refused instead of ignored."""

import re
from typing import Any, ClassVar

from django.db import DataError
from django_filters.rest_framework import DjangoFilterBackend, FilterSet
from rest_framework.exceptions import NotFound
from rest_framework.generics import GenericAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.problems import ProblemError, problem
from toolpolicy.engine.faults import Fault, shown

PAGE = 100
LARGEST_PAGE = 500
PAGE_PARAMETERS = frozenset({"cursor", "page_size"})
_WHOLE = re.compile(r"[0-9]{1,4}")


class Pages(CursorPagination):
    """Pages that stay put while rows are added: `{next, previous, results}`."""

    page_size = PAGE
    max_page_size = LARGEST_PAGE
    page_size_query_param = "page_size"

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """Return the view's own order; nobody chooses another."""
        del request, queryset
        ordering: tuple[str, ...] = view.ordering
        return ordering

    def get_page_size(self, request: Request) -> int:
        text = request.query_params.get("page_size", str(PAGE))
        number = int(text) if _WHOLE.fullmatch(text) else 0
        if not 0 < number <= LARGEST_PAGE:
            raise _wrong("page_size", f"{shown(text)} is no whole number from 1 to {LARGEST_PAGE}")
        return number

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        """Return the rows of the page. Raise a problem for a cursor that we did not make.

        A cursor is read back as text, and the database alone knows that it is no number.
        """
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValueError, OverflowError, DataError):
            if "cursor" not in request.query_params:
                raise
            raise _wrong("cursor", "follow `next` and `previous` as they are given") from None


def _wrong(name: str, message: str) -> ProblemError:
    fault = Fault(name, message, "bad_query")
    return problem("bad_query", message, faults=(fault,), place="parameter")


class ListView(ApiView, GenericAPIView):
    """A list: filtered, in a fixed order, in pages."""

    filterset_class: ClassVar[type[FilterSet]]
    ordering: ClassVar[tuple[str, ...]]
    filter_backends = (DjangoFilterBackend,)
    pagination_class = Pages

    def known_parameters(self) -> frozenset[str]:
        if self.request.method != "GET":
            return frozenset()
        return PAGE_PARAMETERS.union(self.filterset_class.base_filters)

    def page(self) -> Response:
        """Return the page that was asked for: one query."""
        found = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.get_serializer(found, many=True).data)
