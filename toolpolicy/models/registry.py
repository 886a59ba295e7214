"""The registry of tools: the authority on what a tool is (SPEC §8)."""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.models.base import WrittenOnce, WrittenOnceQuerySet, check, one_of, unique
from toolpolicy.models.choices import FamilyKind, ToolState
from toolpolicy.models.fields import ExactJSONField

TOOL_NAME = RegexValidator(
    r"^[A-Za-z0-9_.\-/:]{1,128}\Z", "use letters, digits and `_ . - / :` only"
)


class ToolFamily(models.Model):
    """A toolpack, connector toolkit or MCP server: where tools come from."""

    name = models.CharField(_("name"), max_length=128, help_text=_("Rules match it as `family`."))
    kind = models.CharField(
        _("kind"), max_length=16, choices=FamilyKind.choices, default=FamilyKind.MCP_SERVER
    )
    prefix = models.CharField(
        _("prefix"),
        max_length=64,
        blank=True,
        help_text=_("Put before each name on import, for example `mcp__github__`."),
    )
    trusted = models.BooleanField(
        _("trusted"),
        default=True,
        help_text=_("Whether hints that loosen rules, such as read-only, are believed."),
    )
    description = models.TextField(_("description"), blank=True)
    masking = ExactJSONField(
        _("masking"),
        default=dict,
        blank=True,
        help_text=_("What records do not show of its tools' arguments."),
    )
    version = models.PositiveIntegerField(
        default=1, editable=False, help_text=_("Counts the changes of its members.")
    )

    class Meta:
        verbose_name = _("tool family")
        verbose_name_plural = _("tool families")
        ordering = ("name",)
        constraints = (
            unique("family_name_unique", ("name",), "another family has this name"),
            check("family_name_given", ~models.Q(name=""), "a family needs a name"),
            check(
                "family_kind_known",
                one_of("kind", FamilyKind),
                "the kind is toolpack, connector or mcp_server",
            ),
            check("family_version_positive", models.Q(version__gte=1), "a version is 1 or more"),
        )

    def __str__(self) -> str:
        return printable(self.name)


class ToolDeclarationQuerySet(WrittenOnceQuerySet["ToolDeclaration"]):
    """Declarations that nobody changes or deletes."""


class ToolDeclaration(WrittenOnce):
    """What a tool said about itself, whole, under the digest of its text. Written once."""

    digest = models.CharField(
        _("digest"), max_length=71, primary_key=True, help_text=_("sha256: and 64 hex digits.")
    )
    text = models.TextField(help_text=_("The canonical text."))
    created_at = models.DateTimeField(default=timezone.now)

    objects = ToolDeclarationQuerySet.as_manager()

    class Meta:
        verbose_name = _("tool declaration")
        verbose_name_plural = _("tool declarations")
        default_permissions = ("view",)
        constraints = (
            check(
                "declaration_digest_form",
                models.Q(digest__startswith="sha256:"),
                "a digest starts with sha256:",
            ),
        )

    def __str__(self) -> str:
        return self.digest


class Tool(models.Model):
    """A registered tool: (family, name) and the declaration it is judged by."""

    family = models.ForeignKey(
        ToolFamily,
        verbose_name=_("family"),
        on_delete=models.PROTECT,
        related_name="tools",
        db_index=False,  # the unique constraint below starts with it
    )
    name = models.CharField(
        _("name"),
        max_length=128,
        validators=(TOOL_NAME,),
        help_text=_("As the model sees it, prefix included."),
    )
    title = models.CharField(_("title"), max_length=200, blank=True)
    current = models.ForeignKey(ToolDeclaration, on_delete=models.PROTECT, related_name="+")
    reviewed = models.ForeignKey(
        ToolDeclaration, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    state = models.CharField(
        _("state"), max_length=16, choices=ToolState.choices, default=ToolState.ACTIVE
    )
    dispatcher = ExactJSONField(
        _("dispatcher"),
        null=True,
        blank=True,
        help_text=_("Where its arguments name the tool that really runs."),
    )
    privilege = ExactJSONField(
        _("privilege"), null=True, blank=True, help_text=_("Which arguments raise its permission.")
    )
    overrides = ExactJSONField(
        _("overrides"),
        default=dict,
        blank=True,
        help_text=_("Attributes laid over what the tool declares."),
    )
    masking = ExactJSONField(
        _("masking"),
        default=dict,
        blank=True,
        help_text=_("What records do not show of its arguments."),
    )
    version = models.PositiveIntegerField(
        default=1,
        editable=False,
        help_text=_("Counts what people change of it; what an import changes has its digest."),
    )
    vanished_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When an import no longer held it.")
    )
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("tool")
        verbose_name_plural = _("tools")
        ordering = ("family_id", "name")
        indexes = (
            # A bare name, and a name that differs from a registered one by case only, are looked
            # up across all families.
            models.Index(Lower("name"), name="tool_name_lower"),
        )
        constraints = (
            unique("tool_name_unique", ("family", "name"), "this family has a tool of this name"),
            check("tool_name_given", ~models.Q(name=""), "a tool needs a name"),
            check(
                "tool_state_known",
                one_of("state", ToolState),
                "the state is active, changed, quarantined or retired",
            ),
            check("tool_version_positive", models.Q(version__gte=1), "a version is 1 or more"),
        )

    def __str__(self) -> str:
        return printable(self.name)
