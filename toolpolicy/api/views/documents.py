"""The API's description, its browser page, and the pages that explain codes."""

from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api import guide

# Swagger's own stylesheet draws its icons from data in itself; nothing else is let in.
DOCS_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'; object-src 'none'"
)
FOLDERS: Final = {"reasons": "Reason codes", "problems": "Problem codes", "lint": "Findings"}


class Schema(SpectacularAPIView):
    """The OpenAPI description, in English as all of the API, whatever `lang` says."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *_args: Any, **_kwargs: Any) -> Response:
        response: Response = self._get_schema_response(request)  # type: ignore[no-untyped-call]
        return response


class Docs(SpectacularSwaggerSplitView):
    """The description as a page to read and try, offline and under a strict policy."""

    schema = None
    template_name = "toolpolicy/api/docs.html"

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response


class CodeIndex(View):
    """All codes of a folder."""

    def get(self, request: HttpRequest, folder: str) -> HttpResponse:
        context = {"title": FOLDERS[folder], "folder": folder, "codes": guide.codes(folder)}
        return render(request, "toolpolicy/api/codes.html", context)


class CodePage(View):
    """What one code means, and what to do."""

    def get(self, request: HttpRequest, folder: str, code: str) -> HttpResponse:
        body = guide.page(folder, code)
        if body is None:
            raise Http404
        context = {"title": code, "folder": folder, "body": body}
        return render(request, "toolpolicy/api/code.html", context)
