"""API keys, and what is kept per key."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.models.base import check, unique
from toolpolicy.models.fields import ExactJSONField


class ApiClient(models.Model):
    """An application with a key. Clients are revoked, never deleted: their records name them.

    Only the digest of the secret is stored; the key is shown once, when it is made.
    """

    name = models.CharField(_("name"), max_length=200)
    key_id = models.CharField(max_length=8, editable=False)
    secret_hash = models.CharField(
        max_length=64, editable=False, help_text=_("SHA-256 of the secret, in hex.")
    )
    scopes = ExactJSONField(default=list, blank=True, help_text=_("What the key may do."))
    pinned_context = ExactJSONField(
        default=dict,
        blank=True,
        help_text=_("Context values that the key must send and may not change."),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("Who answers for it."),
    )
    owner_label = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True, help_text=_("Empty: never."))
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("API client")
        verbose_name_plural = _("API clients")
        default_permissions = ("add", "change", "view")
        ordering = ("name", "pk")
        constraints = (
            unique("client_key_id_unique", ("key_id",), "another key has this id"),
            check("client_name_given", ~models.Q(name=""), "a client needs a name"),
            check(
                "client_expires_later",
                models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=models.F("created_at")),
                "a key must expire after it was made",
            ),
        )

    def __str__(self) -> str:
        return printable(self.name)

    @property
    def held(self) -> frozenset[str]:
        """The scopes that the key holds: none where the column holds no list of texts.

        A single text would be searched for a scope's letters, and an object for its members.
        """
        stored = self.scopes
        is_list = isinstance(stored, list) and all(isinstance(one, str) for one in stored)
        return frozenset(stored) if is_list else frozenset()


class SessionTaint(models.Model):
    """A session of a client that has read untrusted content (SPEC §6)."""

    client = models.ForeignKey(
        ApiClient,
        verbose_name=_("client"),
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,  # the unique constraint below starts with it
    )
    session = models.CharField(_("session"), max_length=200)
    since = models.DateTimeField(_("since"), default=timezone.now)

    class Meta:
        verbose_name = _("session taint")
        verbose_name_plural = _("session taints")
        default_permissions = ("view",)
        constraints = (
            unique("taint_session_unique", ("client", "session"), "this session is marked already"),
            check("taint_session_given", ~models.Q(session=""), "a session needs a name"),
        )

    def __str__(self) -> str:
        return printable(self.session)


class RefusalCount(models.Model):
    """How many unauthenticated requests an address made in one minute, by HTTP status."""

    address = models.CharField(_("address"), max_length=64)
    minute = models.DateTimeField(_("minute"))
    status = models.PositiveSmallIntegerField(_("status"))
    count = models.PositiveIntegerField(_("count"), default=1)

    class Meta:
        verbose_name = _("refusal count")
        verbose_name_plural = _("refusal counts")
        default_permissions = ("view",)
        ordering = ("-minute", "address", "status")
        constraints = (
            unique(
                "refusal_minute_unique",
                ("minute", "address", "status"),
                "this minute is counted already",
            ),
            check("refusal_count_positive", models.Q(count__gte=1), "a count is 1 or more"),
        )

    def __str__(self) -> str:
        return printable(f"{self.address} {self.status}")


class SeenContext(models.Model):
    """A context key, with a value, that some caller sent: what rules can be held against.

    Values of `session` are not kept, and of other keys no more than a bound.
    """

    key = models.CharField(max_length=200)
    value = models.CharField(max_length=200, blank=True)
    first_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "seen contexts"
        default_permissions = ()
        ordering = ("key", "value")
        constraints = (unique("seen_context_unique", ("key", "value"), "this was seen already"),)

    def __str__(self) -> str:
        return printable(f"{self.key} {self.value}")
