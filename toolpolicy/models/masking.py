"""What records do not show of arguments, for all tools; families and tools hold their own rules."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from toolpolicy.models.base import check
from toolpolicy.models.fields import ExactJSONField


class Masking(models.Model):
    """The rules for all tools: exactly one row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    rules = ExactJSONField(
        _("rules"),
        default=dict,
        blank=True,
        help_text=_("What it leaves out is as the product ships it."),
    )
    version = models.PositiveIntegerField(
        default=1, editable=False, help_text=_("Counts the changes of its members.")
    )

    class Meta:
        verbose_name = _("masking")
        verbose_name_plural = _("masking")
        default_permissions = ("change", "view")
        constraints = (
            check("masking_one_row", models.Q(id=1), "there is one masking for all tools"),
            check("masking_version_positive", models.Q(version__gte=1), "a version is 1 or more"),
        )

    def __str__(self) -> str:
        return "Masking for all tools"
