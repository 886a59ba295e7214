"""Records: what was decided and what was changed. Written by `toolpolicy.audit.writer` alone."""

from typing import Any, NoReturn, Self, TypeVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.models.base import (
    WrittenOnce,
    WrittenOnceError,
    WrittenOnceQuerySet,
    check,
    one_of,
    unique,
)
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.clients import ApiClient


class RecordQuerySet(WrittenOnceQuerySet["Record"]):
    """Chainable reads of records."""

    def newest_first(self) -> Self:
        """Sort by id, latest first; ids, not clocks, say what came later."""
        return self.order_by("-id")

    def of_client(self, client: ApiClient) -> Self:
        """Keep the records of one API key."""
        return self.filter(client=client)


class Record(WrittenOnce):
    """One event. The canonical text is in its body; here are its hash and copies to filter by.

    Copies longer than their column are cut: they find a record, the text is what it says.
    """

    id = models.BigAutoField(primary_key=True)
    uid = models.UUIDField(help_text=_("The id that callers know, for example the decision_id."))
    kind = models.CharField(max_length=16, choices=RecordKind.choices)
    at = models.DateTimeField()
    writer_id = models.CharField(
        max_length=32, help_text=_("Random; one for each connection to the database.")
    )
    writer_n = models.PositiveBigIntegerField(
        help_text=_("Counts the records of that writer from 1 without a gap.")
    )
    leaf_hash = models.CharField(
        max_length=64, help_text=_("SHA-256 of a zero byte and the text's bytes, in hex.")
    )
    surface = models.CharField(max_length=16, blank=True)
    outcome = models.CharField(max_length=16, blank=True)
    reason_code = models.CharField(max_length=64, blank=True)
    family = models.CharField(max_length=128, blank=True)
    tool = models.CharField(max_length=128, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    channel = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    client = models.ForeignKey(
        ApiClient,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,  # record_of_client starts with it
    )
    client_key_id = models.CharField(max_length=8, blank=True)
    layer = models.CharField(max_length=200, blank=True)
    rule = models.CharField(max_length=200, blank=True)
    policy_version = models.PositiveIntegerField(null=True)
    actor_label = models.CharField(max_length=200, blank=True)
    object_label = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=128, blank=True)
    idempotency_key = models.CharField(max_length=200, blank=True)
    request_digest = models.CharField(max_length=71, blank=True)

    objects = RecordQuerySet.as_manager()

    class Meta:
        verbose_name = _("record")
        verbose_name_plural = _("records")
        default_permissions = ("view",)
        permissions = (
            ("simulate", "Can ask the simulator"),
            ("read_reports", "Can read and take away reports"),
        )
        ordering = ("-id",)
        indexes = (
            # Lists page by id and are narrowed to any of these, in a span of time or not: whatever
            # is rare is found as fast as what is common. All together cost a decision 0.05 ms.
            *(
                models.Index(fields=(column, "-id"), name=f"record_of_{column}")
                for column in (
                    *("kind", "client", "tool", "outcome", "reason_code", "family", "agent"),
                    *("channel", "session", "rule"),
                )
            ),
            # Reports and exports take a span of time.
            models.Index(fields=("at",), name="record_at"),
            # A repeated request finds the recorded answer.
            models.Index(
                fields=("client", "idempotency_key"),
                name="record_idempotency",
                condition=~models.Q(idempotency_key=""),
            ),
            # A line in the caller's log leads to its records.
            models.Index(
                fields=("request_id",), name="record_request", condition=~models.Q(request_id="")
            ),
        )
        constraints = (
            unique("record_uid_unique", ("uid",), "another record has this id"),
            unique(
                "record_writer_unique",
                ("writer_id", "writer_n"),
                "this writer has given this number already",
            ),
            check("record_kind_known", one_of("kind", RecordKind), "the kind is not known"),
            check(
                "record_writer_n_positive",
                models.Q(writer_n__gte=1),
                "records are numbered from 1",
            ),
        )

    def __str__(self) -> str:
        return str(self.uid)


_Kept_co = TypeVar("_Kept_co", bound=models.Model, covariant=True)


class DeletableQuerySet(models.QuerySet[_Kept_co]):
    """Rows that can be deleted when their time is over, never changed."""

    def update(self, **_values: Any) -> NoReturn:
        """Refuse."""
        raise WrittenOnceError(self.model, "changed")


class RecordBodyQuerySet(DeletableQuerySet["RecordBody"]):
    """Bodies that nobody changes."""


class RecordBody(models.Model):
    """The canonical text of a record."""

    record = models.OneToOneField(
        Record, on_delete=models.PROTECT, primary_key=True, related_name="body"
    )
    text = models.TextField()

    objects = RecordBodyQuerySet.as_manager()

    class Meta:
        verbose_name = _("record body")
        verbose_name_plural = _("record bodies")
        default_permissions = ()
        # The text without it is for whoever may view records.
        permissions = (("view_recordbody", "Can read what callers sent, with a record of it"),)

    def __str__(self) -> str:
        return f"body of record {self.record_id}"


class MaskedValueQuerySet(DeletableQuerySet["MaskedValue"]):
    """Values that nobody changes."""


class MaskedValue(models.Model):
    """What a commitment in a record's text hides. Without this row it is gone for ever."""

    record = models.ForeignKey(Record, on_delete=models.PROTECT, related_name="masked")
    pointer = models.TextField(help_text="Where in the text the commitment stands.")
    salt = models.CharField(max_length=64, help_text="Random, of this value alone, in hex.")
    value = models.TextField(
        blank=True, help_text="The value's canonical text; empty where only a digest is kept."
    )

    objects = MaskedValueQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = (
            check("masked_salt_given", ~models.Q(salt=""), "a value is hidden with a salt"),
        )

    def __str__(self) -> str:
        return f"masked value of record {self.record_id}"


class RuleUsage(models.Model):
    """How often a rule matched in an hour: what charts and hit counts read instead of records.

    A row without a layer counts the decisions themselves. A count stands in several shards, one for
    each connection as long as there are few: decisions about one tool would otherwise wait for each
    other's commit. Readers add the shards up.
    """

    SHARDS = 16

    hour = models.DateTimeField(_("hour"))
    layer = models.CharField(_("layer"), max_length=200, blank=True)
    rule = models.CharField(_("rule"), max_length=200, blank=True)
    family = models.CharField(_("family"), max_length=128, blank=True)
    tool = models.CharField(_("tool"), max_length=128, blank=True)
    outcome = models.CharField(_("outcome"), max_length=16)
    shard = models.PositiveSmallIntegerField(_("shard"), default=0)
    count = models.PositiveBigIntegerField(_("count"), default=1)

    class Meta:
        verbose_name = _("rule usage")
        verbose_name_plural = _("rule usage")
        default_permissions = ("view",)
        ordering = ("-hour",)
        indexes = (
            # Hits of a layer's rules and calls of a page of tools, without the rest of the week.
            models.Index(fields=("layer", "hour"), name="usage_of_layer"),
            models.Index(fields=("tool", "hour"), name="usage_of_tool"),
        )
        constraints = (
            unique(
                "usage_hour_unique",
                ("hour", "layer", "rule", "family", "tool", "outcome", "shard"),
                "this hour is counted already",
            ),
            check("usage_count_positive", models.Q(count__gte=1), "a count is 1 or more"),
        )

    def __str__(self) -> str:
        return printable(f"{self.layer} {self.rule}")
