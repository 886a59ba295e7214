"""Sign-ins that did not succeed: counted, so that guessing a password takes years."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from toolpolicy.models.base import check, unique


class SignInAttempt(models.Model):
    """How many sign-ins with one name from one address were tried in one minute.

    A row goes when one of them succeeds, or when its minute no longer counts.
    """

    minute = models.DateTimeField()
    address = models.CharField(max_length=64)
    account = models.CharField(
        max_length=64, help_text=_("A keyed hash of the name that was typed.")
    )
    count = models.PositiveIntegerField(default=1)

    class Meta:
        default_permissions = ()
        ordering = ("minute",)
        indexes = (models.Index(fields=("address",), name="attempt_address"),)
        constraints = (
            unique(
                "attempt_minute_unique",
                ("minute", "address", "account"),
                "this minute is counted already",
            ),
            check("attempt_count_positive", models.Q(count__gte=1), "a count is 1 or more"),
        )

    def __str__(self) -> str:
        return self.address
