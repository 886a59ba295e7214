"""Legal holds: what they cover is neither deleted nor erased."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.models.base import check
from toolpolicy.models.fields import ExactJSONField


class LegalHoldQuerySet(models.QuerySet["LegalHold"]):
    """Chainable reads of holds."""

    def standing(self) -> Self:
        """Keep those that were not lifted."""
        return self.filter(lifted_at__isnull=True)


class LegalHold(models.Model):
    """Keeps the records that its filter asks for, also those still to come, until it is lifted."""

    name = models.CharField(
        _("name"), max_length=200, help_text=_("The matter, for example a case number.")
    )
    reason = models.TextField(_("reason"))
    filter = ExactJSONField(
        default=dict, blank=True, help_text="Which records (`services.record_filters`)."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_by_label = models.CharField(max_length=200)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by_label = models.CharField(max_length=200, blank=True)

    objects = LegalHoldQuerySet.as_manager()

    class Meta:
        verbose_name = _("legal hold")
        verbose_name_plural = _("legal holds")
        default_permissions = ("add", "change", "view")
        ordering = ("-created_at", "-pk")
        constraints = (
            check("legalhold_name_given", ~models.Q(name=""), "a hold needs a name"),
            check("legalhold_reason_given", ~models.Q(reason=""), "say why"),
            check(
                "legalhold_lifted_by_somebody",
                models.Q(lifted_at__isnull=True, lifted_by_label="")
                | (models.Q(lifted_at__isnull=False) & ~models.Q(lifted_by_label="")),
                "who lifts a hold is named",
            ),
        )

    def __str__(self) -> str:
        return printable(self.name)
