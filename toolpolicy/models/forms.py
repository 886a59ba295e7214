"""Forms of the admin that made something."""

from django.db import models
from django.utils import timezone


class SentForm(models.Model):
    """One form that made something, and where it led. Sent again, it leads there once more.

    A row goes when its day is over.
    """

    digest = models.CharField(
        max_length=64,
        primary_key=True,
        help_text="SHA-256, in hex, of the page's token, who sent it and what was filled in.",
    )
    led_to = models.CharField(max_length=2000, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()
        ordering = ("at",)
        indexes = (models.Index(fields=("at",), name="sent_form_at"),)

    def __str__(self) -> str:
        return self.digest
