"""What seals the records: their numbers, blocks, keys. Written by `toolpolicy.audit` alone."""

import uuid

from django.db import models

from toolpolicy.models.base import WrittenOnce, WrittenOnceQuerySet, check, unique
from toolpolicy.models.records import Record


class AuditState(models.Model):
    """The one row that names this log; made with its first seal."""

    log = models.UUIDField(default=uuid.uuid4, help_text="The id of this log, in every block.")
    verified = models.TextField(
        blank=True, help_text="How far the log was verified last: a statement signed by its key."
    )

    class Meta:
        default_permissions = ()
        constraints = (check("auditstate_one_row", models.Q(pk=1), "there is one state"),)

    def __str__(self) -> str:
        return str(self.log)


class SealKeyQuerySet(WrittenOnceQuerySet["SealKey"]):
    """Rows that nobody changes or deletes."""


class SealKey(WrittenOnce):
    """A public key that seals blocks; each but the first is vouched for by the one before it."""

    key_id = models.CharField(
        max_length=16, primary_key=True, help_text="The start of the public key's SHA-256, in hex."
    )
    position = models.PositiveIntegerField(help_text="Counts the keys of the log from 1.")
    public = models.CharField(max_length=64, help_text="The raw Ed25519 key, in hex.")
    statement = models.TextField(blank=True, help_text="What the key before signed of this one.")
    signature = models.CharField(max_length=128, blank=True)

    objects = SealKeyQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        ordering = ("position",)
        constraints = (unique("sealkey_position_unique", ("position",), "this place is taken"),)

    def __str__(self) -> str:
        return self.key_id


class BlockQuerySet(WrittenOnceQuerySet["Block"]):
    """Rows that nobody changes or deletes."""


class Block(WrittenOnce):
    """Some records sealed together. The signed text counts; the columns are copies to find it."""

    number = models.PositiveBigIntegerField(primary_key=True)
    first = models.PositiveBigIntegerField(help_text="The number of its first record.")
    count = models.PositiveIntegerField(help_text="How many records it holds; 0: a sign of life.")
    segment = models.PositiveIntegerField(
        default=1, help_text="Another one begins where a repair closed a broken one."
    )
    at = models.DateTimeField()
    text = models.TextField(help_text="Canonical JSON, as it was signed.")
    signature = models.CharField(max_length=128, help_text="Ed25519 over the text, in hex.")

    objects = BlockQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        ordering = ("number",)
        indexes = (
            # Which block holds a record, and from where the next ones are looked for.
            models.Index(fields=("first", "count"), name="block_first"),
            models.Index(fields=("at",), name="block_at"),
        )

    def __str__(self) -> str:
        return f"block {self.number}"


class LeafQuerySet(WrittenOnceQuerySet["Leaf"]):
    """Rows that nobody changes or deletes."""


class Leaf(WrittenOnce):
    """A sealed record: its number in the log, which has no gaps, and the hash of its header."""

    seq = models.PositiveBigIntegerField(primary_key=True)
    # Without a constraint: verification tells of a missing record, sealing need not look each up.
    record = models.OneToOneField(
        Record, on_delete=models.DO_NOTHING, db_constraint=False, related_name="leaf"
    )
    hash = models.CharField(max_length=64)

    objects = LeafQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "leaves"
        default_permissions = ()

    def __str__(self) -> str:
        return f"record {self.seq}"


class SinkState(models.Model):
    """How far a place outside the database was told, and since when it cannot be."""

    name = models.CharField(max_length=16, primary_key=True)
    block = models.PositiveBigIntegerField(default=0, help_text="The newest block it was told.")
    at = models.DateTimeField(null=True, help_text="When it was told.")
    tried_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class StreamState(models.Model):
    """How far the records were written to a file or to standard output, and what hinders it."""

    target = models.TextField(primary_key=True, help_text="The path of the file; - is the output.")
    seq = models.PositiveBigIntegerField(default=0, help_text="The last record that is there.")
    at = models.DateTimeField(null=True, help_text="When it was written.")
    failing_since = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.target


class VerificationRun(models.Model):
    """A verification that somebody started from a page, and how far it is."""

    started_at = models.DateTimeField()
    started_by_label = models.CharField(max_length=200)
    full = models.BooleanField()
    done = models.PositiveBigIntegerField(default=0, help_text="The block that was read last.")
    last = models.PositiveBigIntegerField(default=0, help_text="The block that is read last.")
    seen_at = models.DateTimeField(help_text="When it last said that it goes on.")
    ended_at = models.DateTimeField(null=True)
    good = models.BooleanField(null=True)
    lines = models.JSONField(default=list, help_text="What it came to, in lines.")

    class Meta:
        default_permissions = ()
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"verification {self.pk}"
