"""The admin site: its name, its navigation and its home page."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import home_start
from toolpolicy.admin.auditing.pages import AuditPages
from toolpolicy.admin.base import by
from toolpolicy.admin.home import overview
from toolpolicy.admin.matrix import MatrixPages
from toolpolicy.admin.passwords import OwnPasswordView
from toolpolicy.admin.reports.pages import ReportPages
from toolpolicy.admin.sections import arrange, only_audits, pages_of
from toolpolicy.admin.sign_in import SignInView
from toolpolicy.admin.signed_out import telling
from toolpolicy.admin.simulator import pages as simulator
from toolpolicy.admin.visible import showing
from toolpolicy.services import sign_ins

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class ToolPolicyAdminSite(AdminSite):
    """Django's site with pages sorted by what people do, not by application."""

    site_header = "toolpolicy"
    site_title = "toolpolicy"
    index_title = _("Today")
    site_url = None
    enable_nav_sidebar = True

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Write out what cannot be seen in any page, and say what becomes of a lost form."""
        return cast("View", showing(telling(super().admin_view(view, cacheable))))

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Add the pages that are no model's."""
        start = self.admin_view(home_start.start)
        return [
            *MatrixPages(self).urls(),
            *simulator.urls(self),
            *ReportPages(self).urls(),
            *AuditPages(self).urls(),
            path("start/<slug:name>/", start, name="toolpolicy_start"),
            *super().get_urls(),
        ]

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the navigation: sections in place of applications."""
        found: list[dict[str, Any]] = super().get_app_list(request, app_label)
        home, arranged = reverse("admin:index"), arrange(found, pages_of(request))
        return [{**one, "app_url": home + one["app_url"]} for one in arranged]

    def index(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show the home page; who only audits has the audit page in its place."""
        if only_audits(self.get_app_list(request)):
            return HttpResponseRedirect(reverse("admin:toolpolicy_audit"))
        context = {"overview": overview(request), **(extra_context or {})}
        return super().index(request, context)

    @method_decorator(login_not_required)
    def login(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Sign in, with a record of each try."""
        home = reverse("admin:index", current_app=self.name)
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(home)
        context = {
            **self.each_context(request),
            "title": gettext("Log in"),
            "subtitle": None,
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            **(extra_context or {}),
        }
        request.current_app = self.name
        return SignInView.as_view(extra_context=context, next_page=home)(request)

    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Sign out, with a record."""
        with transaction.atomic():
            if request.method == "POST" and request.user.is_authenticated:
                sign_ins.signed_out(**by(request))
            return super().logout(request, extra_context)

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Change one's own password, with a record."""
        context = {**self.each_context(request), **(extra_context or {})}
        request.current_app = self.name
        return OwnPasswordView.as_view(extra_context=context)(request)

    def app_index(  # type: ignore[override]
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Go home: the navigation has sections, not applications."""
        return HttpResponseRedirect(reverse("admin:index"))
