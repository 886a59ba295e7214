"""What the list and the page of a tool show of it."""

import json

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.forms import CheckboxInput
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import finding_words, marks
from toolpolicy.admin.masking_forms import told
from toolpolicy.admin.registry.changes import shown_changes
from toolpolicy.admin.registry.reading import Declared
from toolpolicy.admin.versions import short
from toolpolicy.admin.words import filled
from toolpolicy.models import Tool
from toolpolicy.models.choices import ToolState

STATES = {
    ToolState.ACTIVE: (_("active"), "yes", ""),
    ToolState.CHANGED: (_("changed since review"), "warn", "ask"),
    ToolState.QUARANTINED: (_("quarantined"), "warn", "deny"),
    ToolState.RETIRED: (_("retired"), "skip", "hide"),
}


class ToolColumns:
    """The columns and the fields that are only shown."""

    def action_checkbox(self, obj: Tool) -> SafeString:
        """Show what is ticked as ticked, and name the tool."""
        said = gettext("Select %(name)s of %(family)s")
        attrs = {
            "class": "action-select",
            "aria-label": said % {"name": obj.name, "family": obj.family.name},
        }
        box = CheckboxInput(attrs, lambda _: bool(vars(obj).get("picked")))
        return box.render(ACTION_CHECKBOX_NAME, str(obj.pk))

    @admin.display(description=_("tool"), ordering="name")
    def name_shown(self, tool: Tool) -> SafeString:
        """Show the name as the model sees it, the title, and how much lint finds in it."""
        title, found = Declared(tool).own_title, finding_words.summary(vars(tool)["findings"])
        return format_html("{} {}{}", marks.tool(tool.name), title, found)

    @admin.display(description=_("tags, group"))
    def labels(self, tool: Tool) -> SafeString:
        """Show tags and group; laid over what is declared, it is said."""
        return Declared(tool).labels

    @admin.display(description=_("rules"))
    def rules(self, tool: Tool) -> SafeString:
        """Say how many rules touch it."""
        count = vars(tool)["touched_by"]
        address = reverse("admin:toolpolicy_tool_change", args=(tool.pk,))
        words = ngettext("%(count)s rule", "%(count)s rules", count) % {"count": count}
        return format_html('<a class="tp-num" href="{}#rules">{}</a>', address, words)

    @admin.display(description=_("calls, 7 days"))
    def calls(self, tool: Tool) -> SafeString:
        """Say how often it was decided about."""
        count = vars(tool)["calls"]
        said = ngettext("%(count)s call", "%(count)s calls", count) % {"count": f"{count:,}"}
        return format_html('<span class="tp-num">{}</span>', said)

    @admin.display(description=_("state"))
    def state_shown(self, tool: Tool) -> SafeString:
        """Show the state; one that needs a look is coloured."""
        word, shape, tone = STATES[ToolState(tool.state)]
        gone = marks.tag(gettext("no longer offered"), shape="skip") if tool.vanished_at else ""
        return marks.row((marks.tag(word, shape=shape, tone=tone), gone))

    @admin.display(description=_("permission"))
    def permission(self, tool: Tool) -> SafeString:
        """Show the level of privilege."""
        return Declared(tool).permission

    @admin.display(description=_("says of itself"))
    def hints(self, tool: Tool) -> SafeString:
        """Show the known hints."""
        return Declared(tool).hints

    @admin.display(description=_("hints"))
    def sources(self, tool: Tool) -> SafeString:
        """Show every hint with where it comes from."""
        return Declared(tool).hints_with_sources

    @admin.display(description=_("seen"))
    def seen(self, tool: Tool) -> str:
        """Say when the tool was first and last seen."""
        first, last = marks.moment(tool.first_seen_at), marks.moment(tool.last_seen_at)
        return filled(gettext("first %(first)s, last %(last)s"), first=first, last=last)

    @admin.display(description=_("declaration"))
    def declaration(self, tool: Tool) -> SafeString:
        """Lead to the declaration, and say whether somebody read it."""
        address = reverse("admin:toolpolicy_tooldeclaration_change", args=(tool.current_id,))
        reviewed = tool.reviewed_id == tool.current_id
        read = gettext("reviewed") if reviewed else gettext("not reviewed yet")
        digest = marks.code(short(tool.current_id))
        if vars(tool).get("declarations_open"):
            digest = format_html('<a href="{}">{}</a>', address, digest)
        return marks.row((digest, marks.sub(read)))

    @admin.display(description=_("since the review"))
    def changes(self, tool: Tool) -> SafeString:
        """Show what the tool declares otherwise than when somebody read it."""
        return shown_changes(tool)

    @admin.display(description=_("text"))
    def declared(self, tool: Tool) -> SafeString:
        """Show the declaration, laid out."""
        return marks.laid_out(json.loads(tool.current.text), gettext("Declaration"))

    @admin.display(description=_("overrides"))
    def overriding(self, tool: Tool) -> SafeString:
        """Show the overrides."""
        return marks.laid_out(tool.overrides, gettext("Overrides"))

    @admin.display(description=_("dispatcher"))
    def dispatching(self, tool: Tool) -> SafeString:
        """Show where its arguments name the tool that really runs."""
        return marks.laid_out(tool.dispatcher, gettext("Dispatcher"))

    @admin.display(description=_("privilege"))
    def raising(self, tool: Tool) -> SafeString:
        """Show which arguments raise its permission."""
        return marks.laid_out(tool.privilege, gettext("Privilege"))

    @admin.display(description=_("hidden in records"))
    def masked(self, tool: Tool) -> SafeString:
        """Say what records hide of its arguments."""
        return told(tool.masking)
