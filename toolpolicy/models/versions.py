"""What was and is live: immutable documents and versions, the one state row, and freezes."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.models.base import WrittenOnce, WrittenOnceQuerySet, check, one_of, unique
from toolpolicy.models.choices import FreezeKind


class DocumentQuerySet(WrittenOnceQuerySet["Document"]):
    """Documents that nobody changes or deletes."""


class Document(WrittenOnce):
    """A canonical text under its digest. Written once."""

    digest = models.CharField(
        _("digest"), max_length=71, primary_key=True, help_text=_("sha256: and 64 hex digits.")
    )
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        default_permissions = ("view",)
        constraints = (
            check(
                "document_digest_form",
                models.Q(digest__startswith="sha256:"),
                "a digest starts with sha256:",
            ),
        )

    def __str__(self) -> str:
        return self.digest


class PolicyVersionQuerySet(WrittenOnceQuerySet["PolicyVersion"]):
    """Versions that nobody changes or deletes."""


class PolicyVersion(WrittenOnce):
    """One policy that went live: which document, when, by whom. Written once.

    `published_by` is a link without a constraint: a deleted user leaves a number that points to
    nobody and the copied label beside it, and the row is never touched.
    """

    number = models.PositiveIntegerField()
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="versions")
    published_at = models.DateTimeField(default=timezone.now)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,  # nothing looks versions up by user
        null=True,
        related_name="+",
    )
    published_by_label = models.CharField(max_length=200)
    comment = models.TextField(blank=True)
    request_id = models.CharField(max_length=128, blank=True)

    objects = PolicyVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("policy version")
        verbose_name_plural = _("policy versions")
        default_permissions = ("view",)
        permissions = (("publish_policy", "Can publish and roll back the policy"),)
        ordering = ("-number",)
        constraints = (
            unique("policy_version_number_unique", ("number",), "another version has this number"),
            check(
                "policy_version_number_positive",
                models.Q(number__gte=1),
                "versions are numbered from 1",
            ),
        )

    def __str__(self) -> str:
        return f"version {self.number}"


class PolicyState(models.Model):
    """What is live now: exactly one row, read by every decision and locked by every publication."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    live = models.ForeignKey(
        PolicyVersion,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,  # one row needs no index
    )
    registry_digest = models.CharField(max_length=71, blank=True)
    settings_digest = models.CharField(max_length=71, blank=True)
    masking_digest = models.CharField(
        max_length=71, blank=True, help_text="Empty: what the product masks by itself."
    )

    class Meta:
        verbose_name = _("policy state")
        verbose_name_plural = _("policy state")
        default_permissions = ("view",)
        constraints = (check("policy_state_one_row", models.Q(id=1), "there is one policy state"),)

    def __str__(self) -> str:
        return "policy state"


class FreezeQuerySet(models.QuerySet["Freeze"]):
    """Chainable reads of freezes."""

    def live(self, now: datetime) -> Self:
        """Keep the freezes that stand at `now`: not lifted, not run out.

        One with something else than a time there was neither lifted nor does it run out.
        """
        endless = models.Q(until__isnull=True) | models.Q(until__unreadable=True)
        lifted = models.Q(lifted_at__isnull=False) & ~models.Q(lifted_at__unreadable=True)
        return self.filter(endless | models.Q(until__gt=now)).exclude(lifted)


class Freeze(models.Model):
    """An emergency stop of one agent, channel, family or tool, whatever the rules say."""

    kind = models.CharField(_("kind"), max_length=8, choices=FreezeKind.choices)
    value = models.CharField(
        _("value"), max_length=200, help_text=_("The name of what is stopped.")
    )
    reason = models.TextField(_("reason"), help_text=_("Told to the caller."))
    until = models.DateTimeField(
        _("until"), null=True, blank=True, help_text=_("Empty: until it is lifted.")
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_by_label = models.CharField(max_length=200)
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = FreezeQuerySet.as_manager()

    class Meta:
        verbose_name = _("freeze")
        verbose_name_plural = _("freezes")
        default_permissions = ("add", "change", "view")
        ordering = ("-created_at",)
        indexes = (
            # Every decision reads the freezes that stand; lifted ones pile up over the years.
            models.Index(
                fields=("kind", "value"),
                name="freeze_standing",
                condition=models.Q(lifted_at__isnull=True),
            ),
            # Hardly ever there, and to be found without looking through the lifted ones.
            models.Index(
                fields=("kind", "value"),
                name="freeze_unreadable",
                condition=models.Q(lifted_at__unreadable=True),
            ),
        )
        constraints = (
            check(
                "freeze_kind_known",
                one_of("kind", FreezeKind),
                "a freeze is about an agent, a channel, a family or a tool",
            ),
            check("freeze_value_given", ~models.Q(value=""), "say what is frozen"),
            check("freeze_reason_given", ~models.Q(reason=""), "say why"),
            check(
                "freeze_until_later",
                models.Q(until__isnull=True) | models.Q(until__gt=models.F("created_at")),
                "the end of a freeze must be in the future",
            ),
        )

    def __str__(self) -> str:
        return printable(f"{self.kind} {self.value}")
