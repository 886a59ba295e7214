"""The lines of a bundle: what an auditor takes away, and checks with `verify_bundle.py` alone.

The format is in docs/audit.md. Lines are made one by one, and no more of the log is in memory than
a full block without its texts. What is altered in the database is given as it stands: the verdict
on it is the verifier's.
"""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from django.db.models import Q
from django.utils import timezone

from toolpolicy.audit import heads, keys, merkle
from toolpolicy.audit.blocks import parse_line
from toolpolicy.audit.headers import header, members, moment
from toolpolicy.audit.sealed import (
    OpenBlock,
    SealedRecord,
    Wanted,
    blocks_of,
    whole_blocks,
    with_texts,
)
from toolpolicy.audit.sinks import SinkError, sinks
from toolpolicy.audit.verification.deletions import Deletions, texts_deleted
from toolpolicy.models import Block, SealKey
from toolpolicy.models.choices import RecordKind

logger = logging.getLogger(__name__)
FORM: Final = "toolpolicy-bundle/2"
Line = dict[str, Any]
# Only ASCII: nothing that a record holds ends a line or acts on a terminal.
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def line_of(value: Line) -> bytes:
    """Return an object as one line of JSON Lines."""
    return _encode(value).encode() + b"\n"


class Bundle:
    """One bundle; `counts` says how many lines of each type were made so far."""

    def __init__(self, *, wanted: Wanted, complete: bool, made_by: str) -> None:
        self.counts: Counter[str] = Counter()
        self._wanted = wanted
        self._complete = complete
        self._made_by = made_by
        self._seen = hashlib.sha256()
        self._cited: set[int] = set()

    def lines(self) -> Iterator[bytes]:
        """Yield every line. Raise Block.DoesNotExist when nothing is sealed yet."""
        for value in self._before_the_end():
            self.counts[value["type"]] += 1
            data = line_of(value)
            self._seen.update(data)
            yield data
        told = {f"{name}s": self.counts[name] for name in ("record", "other", "block")}
        yield line_of({"type": "end", **told, "sha256": self._seen.hexdigest()})

    def _before_the_end(self) -> Iterator[Line]:
        log, chain = heads.log_id(), keys.chain()
        # Before the head is read, so that none of them is of a later block than the bundle's last.
        told = list(_checkpoints(log))
        head = Block.objects.latest("number")
        yield self._manifest(log, chain)
        for key in chain:
            said = {"statement": key.statement or None, "signature": key.signature or None}
            yield {"type": "key", "key": key.key_id, "public": key.public, **said}
        for one in self._blocks(head):
            yield self._block(one)
            yield from self._records(one)
        yield from told

    def _manifest(self, log: str, chain: list[SealKey]) -> Line:
        return {
            "type": "bundle",
            "format": FORM,
            "log": log,
            "made_at": moment(timezone.now()),
            "made_by": self._made_by,
            "filter": self._wanted.wire(),
            "complete": self._complete,
            "key": chain[0].key_id if chain else "",
        }

    def _blocks(self, head: Block) -> Iterator[OpenBlock]:
        if self._complete:
            return whole_blocks(self._wanted.first or 1, head)
        return blocks_of(self._wanted, head, besides=Q(kind=RecordKind.PRUNE))

    def _block(self, one: OpenBlock) -> Line:
        """Return the line of a block; of a complete bundle, with the leaves that it was made of.

        They tell which header was altered, where the root alone would tell the block.
        """
        line = {"type": "block", "block": one.block.text, "signature": one.block.signature}
        return (
            line | {"leaves": [digest for _, digest, _ in one.leaves]} if self._complete else line
        )

    def _records(self, one: OpenBlock) -> Iterator[Line]:
        """Yield the lines of a block: what is asked for, and what is shown beside it.

        That is everything in a complete bundle, else the prunings that deleted a text.
        """
        asks = self._wanted.asks_for
        asked = {found.seq for found in one.records if asks(found.row, found.seq)}
        texts = with_texts(found for found in one.records if found.seq in asked)
        prove = _Proofs(one)
        for found in one.records:
            if found.seq in asked:
                line = self._record(*next(texts))
            elif self._complete or found.seq in self._cited:
                line = self._other(found)
            else:
                continue
            yield line if self._complete else line | {"proof": prove(found.seq)}

    def _record(self, found: SealedRecord, text: str | None) -> Line:
        line = {"type": "record", "seq": found.seq, "header": members(found.row), "text": text}
        by = self._deleted.of(found.seq, header(found.row).encode()) if text is None else None
        if by is None:
            return line
        self._cited.add(by.seq)
        return line | {"expired": by.seq}

    def _other(self, found: SealedRecord) -> Line:
        """Return the line of what is not asked for; of a pruning that is cited, with its text."""
        line = {"type": "other", "seq": found.seq, "header": members(found.row)}
        _, text = next(with_texts([found])) if found.seq in self._cited else (found, None)
        return line if text is None else line | {"text": text}

    @cached_property
    def _deleted(self) -> Deletions:
        return texts_deleted()


class _Proofs:
    """The audit paths of a block's records, from a tree that is built when the first is needed."""

    def __init__(self, one: OpenBlock) -> None:
        self._one = one

    def __call__(self, seq: int) -> list[str]:
        """Return the path of a record; empty where the block's leaves are not those of a tree."""
        if self._tree is None:
            return []
        return [digest.hex() for digest in self._tree.path(seq - self._one.block.first)]

    @cached_property
    def _tree(self) -> merkle.Tree | None:
        try:
            leaves = [bytes.fromhex(digest) for _, digest, _ in self._one.leaves]
        except ValueError:
            return None
        return merkle.Tree(leaves) if len(leaves) == self._one.block.count else None


def _checkpoints(log: str) -> Iterator[Line]:
    for sink in sinks(log):
        try:
            line = sink.newest()
            text, signature = parse_line(line) if line else ("", "")
        except (SinkError, ValueError) as error:
            logger.warning("a bundle is without the checkpoint of `%s`: %s", sink.name, error)
            continue
        if text:
            yield {"type": "checkpoint", "sink": sink.name, "block": text, "signature": signature}
