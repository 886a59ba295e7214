"""What tools declared, whole and under its digest. Read-only."""

import json

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.base import ReadOnlyPage
from toolpolicy.admin.versions import short
from toolpolicy.models import ToolDeclaration


@admin.register(ToolDeclaration)
class DeclarationPage(ReadOnlyPage):
    """Every declaration that was ever seen."""

    lead = _("Every declaration that was ever imported or made, kept whole and never altered.")
    list_display = ("tool", "digest_shown", "stored")
    list_display_links = ("digest_shown",)
    search_fields = ("=digest",)
    search_help_text = _("Whole digest")
    ordering = ("-created_at", "digest")
    sortable_by = ()
    fields = ("digest", "stored", "laid_out_text")

    @admin.display(description=_("tool"))
    def tool(self, declaration: ToolDeclaration) -> SafeString:
        """Name the tool that declared it."""
        subject = json.loads(declaration.text)["subject"]
        return format_html("{} {}", marks.tool(subject["name"]), marks.sub(subject["family"]))

    @admin.display(description=_("digest"))
    def digest_shown(self, declaration: ToolDeclaration) -> SafeString:
        """Show enough of the digest to tell it from others."""
        return marks.code(short(declaration.digest))

    @admin.display(description=_("first seen"))
    def stored(self, declaration: ToolDeclaration) -> SafeString:
        """Say when it was first seen."""
        return marks.moment(declaration.created_at)

    @admin.display(description=_("text"))
    def laid_out_text(self, declaration: ToolDeclaration) -> SafeString:
        """Show the text, laid out."""
        return marks.laid_out(json.loads(declaration.text), gettext("Text"))
