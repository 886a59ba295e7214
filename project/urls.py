"""Every address the server answers at."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from toolpolicy.api.views.documents import CodeIndex, CodePage
from toolpolicy.api.views.health import Health, Readiness
from toolpolicy.api.views.metrics import metrics

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("toolpolicy.api.urls")),
    # Where probes look first; the API has them too.
    path("healthz", Health.as_view(schema=None)),
    path("readyz", Readiness.as_view(schema=None)),
    path("metrics", metrics),
    re_path(r"^docs/(?P<folder>reasons|problems|lint)/$", CodeIndex.as_view(), name="codes"),
    re_path(
        r"^docs/(?P<folder>reasons|problems|lint)/(?P<code>[a-z_]+)/$",
        CodePage.as_view(),
        name="code",
    ),
]
handler400 = "toolpolicy.api.handlers.bad_request"
handler403 = "toolpolicy.api.handlers.forbidden"
handler404 = "toolpolicy.api.handlers.not_found"
handler500 = "toolpolicy.api.handlers.server_error"
