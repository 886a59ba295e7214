"""The matrix: what each agent, or a call from each channel, meets at each registered tool."""

from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import content_disposition_header, urlencode
from django.utils.translation import gettext

from toolpolicy.admin.matrix_cells import (
    MOST_COLUMNS,
    csv_rows,
    links_of,
    none_of,
    rows_of,
    start_before,
    table_of,
)
from toolpolicy.admin.matrix_forms import MatrixForm
from toolpolicy.admin.simulator.pages import may_simulate
from toolpolicy.engine.faults import printable
from toolpolicy.engine.words import Scope, Surface
from toolpolicy.models import Tool
from toolpolicy.services import seen
from toolpolicy.services.csv_text import csv_lines
from toolpolicy.services.errors import NotFound
from toolpolicy.services.matrix import Matrix

if TYPE_CHECKING:
    from toolpolicy.admin.site import ToolPolicyAdminSite

NEEDED: Final = "toolpolicy.view_policyversion"
MOST_DIGITS: Final = 9


def may_view(request: HttpRequest) -> bool:
    """Tell whether the person may see what the policy comes to."""
    return request.user.has_perm(NEEDED)


class MatrixPages:
    """The page, its file, and the way from a cell to why."""

    def __init__(self, site: "ToolPolicyAdminSite") -> None:
        self.site = site

    def urls(self) -> list[URLPattern]:
        """Return the addresses. That of a cell is short: a page holds thousands."""
        view = self.site.admin_view
        return [
            path("matrix/", view(self.page), name="toolpolicy_matrix"),
            path("matrix/csv/", view(self.file), name="toolpolicy_matrix_csv"),
            path("matrix/<int:pk>", view(self.why), name="toolpolicy_matrix_why"),
        ]

    def page(self, request: HttpRequest) -> HttpResponse:
        """Show one page of the table, and the fields that choose what stands in it."""
        _check(request)
        context: dict[str, Any] = {**self.site.each_context(request), "title": gettext("Matrix")}
        template = "admin/toolpolicy/matrix.html"
        try:
            matrix = _matrix(request)
        except NotFound:
            return TemplateResponse(request, template, context)
        form = MatrixForm(request.GET, matrix)
        known = {place: _known(matrix, place) for place in (Scope.AGENT, Scope.CHANNEL)}
        context |= {"matrix": matrix, "form": form, "known": known}
        if form.is_valid():
            context |= _shown(request, form, matrix, _columns(form, known[Scope(form.axis)]))
        return TemplateResponse(request, template, context)

    def file(self, request: HttpRequest) -> HttpResponseBase:
        """Send the whole matrix, whatever its size, as CSV."""
        _check(request)
        try:
            matrix = _matrix(request)
        except NotFound:
            return self.page(request)
        form = MatrixForm(request.GET, matrix)
        if not form.is_valid():
            return self.page(request)
        columns = _columns(form, _known(matrix, form.axis))
        lines = csv_lines(csv_rows(form, rows_of(form, matrix, columns), columns))
        name = f"matrix-{form.axis}s-version-{matrix.version}.csv"
        file = content_disposition_header(as_attachment=True, filename=name)
        return StreamingHttpResponse(
            lines,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": str(file), "Cache-Control": "no-store"},
        )

    def why(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Lead from a cell to the trace of such a call."""
        _check(request)
        if not may_simulate(request):
            raise PermissionDenied
        tool = get_object_or_404(Tool.objects.select_related("family"), pk=pk)
        asked = {"tool": tool.name, "family": tool.family.name, "surface": Surface.CALL.value}
        query = urlencode({**asked, **request.GET.dict()})
        return HttpResponseRedirect(f"{reverse('admin:toolpolicy_simulator')}?{query}")


def _check(request: HttpRequest) -> None:
    if not may_view(request):
        raise PermissionDenied


def _matrix(request: HttpRequest) -> Matrix:
    """Return the matrix of the versions in the address, of the live one where they are none.

    The form says what is wrong with them. Raises `NotFound` where there is no policy.
    """
    now, asked = timezone.now(), request.GET
    version, since = (_number(asked.get(name, "")) for name in ("version", "since"))
    defaults = asked.get("show") == "differs"
    try:
        return Matrix.of(now=now, version=version, since=since, defaults=defaults)
    except NotFound:
        return Matrix.of(now=now, defaults=defaults)


def _known(matrix: Matrix, key: str) -> list[str]:
    """Return the values of a context key that callers sent or somebody named. One query."""
    return sorted({*seen.values(key), *matrix.named(key)})


def _columns(form: MatrixForm, known: list[str]) -> list[str]:
    """Return the columns: what the person named first; one without a value where none is known."""
    also = form.cleaned_data["also"]
    return [*([also] if also else []), *(one for one in known if one != also)] or [""]


def _shown(
    request: HttpRequest, form: MatrixForm, matrix: Matrix, columns: list[str]
) -> dict[str, Any]:
    """Return the table, and the addresses of what is beside it."""
    row, column = (_number(request.GET.get(name, "")) or 0 for name in ("row", "column"))
    here = columns[column : column + MOST_COLUMNS] or columns[:MOST_COLUMNS]
    simulates = may_simulate(request)
    links = links_of(form, here) if simulates else [""] * len(here)
    rows = rows_of(form, matrix, here, row)
    named = request.user.has_perm("toolpolicy.view_tool")
    table = table_of(rows, _keys(), links, named=named)
    before = start_before(form, matrix, here, row)
    after = column + MOST_COLUMNS
    return {
        "table": table,
        "simulates": simulates,
        "columns": [printable(value) or none_of(form.axis) for value in here],
        "all_columns": len(columns),
        "column_name": Scope(form.axis).value,
        "first": form.address(column=column) if before else "",
        "before": "" if before is None else form.address(row=before, column=column),
        "more": form.address(row=table.following, column=column) if table.following else "",
        "columns_before": form.address(row=row, column=max(0, column - MOST_COLUMNS))
        if column
        else "",
        "columns_after": form.address(row=row, column=after) if after < len(columns) else "",
        "file": reverse("admin:toolpolicy_matrix_csv") + form.address(),
    }


def _keys() -> dict[tuple[str, str], int]:
    return {
        (family, name): pk
        for family, name, pk in Tool.objects.order_by().values_list("family__name", "name", "pk")
    }


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
