"""What is and was live: versions, the texts under their digests, and the state. All read-only."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks, version_pages
from toolpolicy.admin.base import Extra, ReadOnlyPage
from toolpolicy.admin.keyset import KeysetList
from toolpolicy.admin.words import english
from toolpolicy.models import Document, PolicyState, PolicyVersion

FORMATS = {
    "toolpolicy": _("policy"),
    "toolpolicy-registry": _("registry"),
    "toolpolicy-settings": _("settings"),
    "toolpolicy-masking": _("masking"),
}


def digest_link(digest: str) -> SafeString:
    """Lead to the document with this digest; "" is none."""
    if not digest:
        return marks.nothing()
    address = reverse("admin:toolpolicy_document_change", args=(digest,))
    return format_html('<a href="{}"><code>{}</code></a>', address, short(digest))


def short(digest: str) -> str:
    """Return enough of a digest to tell it from others."""
    return f"{digest[:19]}…"


class VersionList(KeysetList):
    """One page of versions, by their numbers."""

    key = "number"


@admin.register(PolicyVersion)
class VersionPage(ReadOnlyPage):
    """Every version that was live."""

    lead = _("Each saved change makes a version. A version never changes; the newest one is live.")
    list_display = ("version", "published", "publisher", "why", "changes_link", "judged_link")
    search_fields = ("published_by_label", "comment", "request_id")
    search_help_text = _("Who, what or request id")
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[PolicyVersion]:
        """Leave the texts out: a policy can be large, and the list needs its digest only."""
        found: QuerySet[PolicyVersion] = super().get_queryset(request)
        return found.defer("document__text")

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[VersionList]:
        """Page by number: every saved change adds one."""
        return VersionList

    def get_list_display(self, request: HttpRequest) -> Any:
        """Lead to records only who may read them."""
        columns = super().get_list_display(request)
        return columns if request.user.has_perm("toolpolicy.view_record") else columns[:-1]

    def get_urls(self) -> list[URLPattern]:
        """Add comparing two versions, and rolling back to one."""
        view = self.admin_site.admin_view
        name = "toolpolicy_policyversion"
        return [
            path("compare/", view(version_pages.compare_view(self)), name=f"{name}_compare"),
            path(
                "<int:pk>/roll-back/",
                view(version_pages.roll_back_view(self)),
                name=f"{name}_roll_back",
            ),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: Extra = None) -> HttpResponse:
        """Offer to compare any two versions."""
        form = {"compare": version_pages.CompareForm()}
        return super().changelist_view(request, {**form, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Extra = None,
    ) -> HttpResponse:
        """Show one version and what it changed."""
        return version_pages.show_version(self, request, object_id, extra_context)

    @admin.display(description=_("version"), ordering="number")
    def version(self, version: PolicyVersion) -> str:
        """Name the version."""
        return gettext("Version %(number)s") % {"number": version.number}

    @admin.display(description=_("went live"))
    def published(self, version: PolicyVersion) -> SafeString:
        """Say when it went live."""
        return marks.moment(version.published_at)

    @admin.display(description=_("by"))
    def publisher(self, version: PolicyVersion) -> str:
        """Name who made it live."""
        return version.published_by_label

    @admin.display(description=_("why"))
    def why(self, version: PolicyVersion) -> SafeString:
        """Say what was done."""
        return english(marks.worded(version.comment))

    @admin.display(description=_("changes"))
    def changes_link(self, version: PolicyVersion) -> SafeString:
        """Lead to what differs from the version before."""
        if version.number == 1:
            return marks.sub(gettext("the first one"))
        query = urlencode({"before": version.number - 1, "after": version.number})
        address = reverse("admin:toolpolicy_policyversion_compare")
        return format_html('<a href="{}?{}">{}</a>', address, query, gettext("What changed"))

    @admin.display(description=_("judged"))
    def judged_link(self, version: PolicyVersion) -> SafeString:
        """Lead to the decisions that it judged."""
        address = version_pages.judged_address(version.number)
        return format_html('<a href="{}">{}</a>', address, gettext("Decisions"))


@admin.register(Document)
class DocumentPage(ReadOnlyPage):
    """Texts under their digests."""

    lead = _("The exact text of every policy, registry and settings that decisions were judged by.")
    list_display = ("digest_shown", "what", "stored")
    search_fields = ("=digest",)
    search_help_text = _("Whole digest")
    ordering = ("-created_at",)
    sortable_by = ()
    fields = ("digest", "what", "stored", "laid_out_text")

    @admin.display(description=_("digest"))
    def digest_shown(self, document: Document) -> SafeString:
        """Show enough of the digest to tell it from others."""
        return marks.code(short(document.digest))

    @admin.display(description=_("what"))
    def what(self, document: Document) -> str:
        """Say what the text is: its member `format` tells."""
        form = str(json.loads(document.text).get("format", "")).partition("/")[0]
        return str(FORMATS.get(form, form))

    @admin.display(description=_("stored"))
    def stored(self, document: Document) -> SafeString:
        """Say when it was stored."""
        return marks.moment(document.created_at)

    @admin.display(description=_("text"))
    def laid_out_text(self, document: Document) -> SafeString:
        """Show the text, laid out."""
        return marks.laid_out(json.loads(document.text), gettext("Text"))


@admin.register(PolicyState)
class StatePage(ReadOnlyPage):
    """The one row that every decision reads."""

    lead = _("What every decision is judged by at this moment.")
    list_display = ("live_shown", "texts")
    list_select_related = ("live",)
    sortable_by = ()
    fields = ("live_shown", "policy", "registry", "settings")

    @admin.display(description=_("live version"))
    def live_shown(self, state: PolicyState) -> str:
        """Name the live version."""
        if state.live is None:
            return gettext("none yet: every call is refused")
        return gettext("Version %(number)s") % {"number": state.live.number}

    @admin.display(description=_("texts"))
    def texts(self, state: PolicyState) -> SafeString:
        """Lead to the texts, each with what it is: a phone shows no heads of columns."""
        named = (
            (_("policy"), self.policy(state)),
            (_("registry"), self.registry(state)),
            (_("settings"), self.settings(state)),
        )
        return marks.row(format_html("{} {}", marks.sub(word), link) for word, link in named)

    @admin.display(description=_("policy"))
    def policy(self, state: PolicyState) -> SafeString:
        """Lead to the live policy's text."""
        return digest_link(state.live.document_id if state.live else "")

    @admin.display(description=_("registry"))
    def registry(self, state: PolicyState) -> SafeString:
        """Lead to the registry's text."""
        return digest_link(state.registry_digest)

    @admin.display(description=_("settings"))
    def settings(self, state: PolicyState) -> SafeString:
        """Lead to the settings' text."""
        return digest_link(state.settings_digest)
