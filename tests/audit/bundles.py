"""Small logs and their bundles, written from the format alone: what an exporter must come to.

Nothing here is written with the product's own code but the Merkle trees, which have their own
tests.
"""

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from toolpolicy.audit.merkle import Tree, leaf
from toolpolicy.audit.verify_bundle import verify

NAMES = (
    *("uid", "kind", "at", "writer_id", "writer_n", "text_hash", "surface", "outcome"),
    *("reason_code", "family", "tool", "agent", "channel", "session", "client_id"),
    *("client_key_id", "layer", "rule", "policy_version", "actor_label", "object_label"),
    *("request_id", "idempotency_key", "request_digest"),
)
BEGAN = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
Line = dict[str, Any]
# The record of `some_log` that prunes.
PRUNING = 16


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def moment(seconds: int) -> str:
    at = BEGAN + timedelta(seconds=seconds)
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def hash_of(first: bytes, text: str) -> str:
    return hashlib.sha256(first + text.encode()).hexdigest()


class Key:
    def __init__(self, name: str) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
        raw = self._private.public_key().public_bytes_raw()
        self.public, self.fingerprint = raw.hex(), hashlib.sha256(raw).hexdigest()
        self.id = self.fingerprint[:16]

    def sign(self, text: str) -> str:
        return self._private.sign(text.encode()).hex()


class Log:
    """A log with one record a second; `seal` puts what is not sealed into a block."""

    def __init__(self, name: str = "log") -> None:
        self.name, self.id = name, str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        self.key = Key(name)
        self.key_lines: list[Line] = [self._key_line(None, None)]
        self.headers: list[list[Any]] = []
        self.texts: list[str] = []
        self.blocks: list[Line] = []
        self.signatures: list[str] = []
        self.clock = 0

    def _key_line(self, statement: str | None, signature: str | None) -> Line:
        told = {"statement": statement, "signature": signature}
        return {"type": "key", "key": self.key.id, "public": self.key.public, **told}

    def tick(self) -> str:
        self.clock += 1
        return moment(self.clock)

    def record(
        self,
        kind: str = "decision",
        outcome: str = "allow",
        more: Mapping[str, Any] = MappingProxyType({}),
        **columns: Any,
    ) -> int:
        """Write a record and return its number; `more` is what else its text says."""
        number, at = len(self.headers) + 1, self.tick()
        uid, writer = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.name}{number}")), "f" * 32
        place = {"id": writer, "n": number}
        body = {"id": uid, "kind": kind, "at": at, "writer": place, "v": 1, "said": "ümlaut\n ☃"}
        body.update(more)
        text = canonical(body)
        values = dict.fromkeys(NAMES, "") | {"client_id": None, "policy_version": 3}
        values |= {"uid": uid, "kind": kind, "at": at, "writer_id": writer, "writer_n": number}
        values |= {"text_hash": hash_of(b"\0", text), "outcome": outcome, **columns}
        self.headers.append(["toolpolicy-record/1", *(values[name] for name in NAMES)])
        self.texts.append(text)
        return number

    def seal(self, **members: Any) -> Line:
        """Seal all that is unsealed; `members` replace what the block would say."""
        end = self._end()
        rows = [self._row(seq) for seq in range(end, len(self.headers) + 1)]
        last = self.blocks[-1] if self.blocks else None
        block: Line = {
            "v": 1,
            "log": self.id,
            "n": len(self.blocks) + 1,
            "segment": last["segment"] if last else 1,
            "first": end,
            "count": len(rows),
            "root": self.tree(end, len(rows)).root.hex(),
            "previous": hash_of(b"\2", canonical(last)) if last else "0" * 64,
            "at": self.tick(),
            "key": self.key.id,
            "note": "",
            "gaps": [],
            "from": min((row["at"] for row in rows), default=None),
            "to": max((row["at"] for row in rows), default=None),
            "outcomes": dict(Counter(row["outcome"] for row in rows)),
        } | members
        self.blocks.append(block)
        self.signatures.append(self.key.sign(canonical(block)))
        return block

    def _end(self) -> int:
        """Return the number after the last sealed record."""
        return self.blocks[-1]["first"] + self.blocks[-1]["count"] if self.blocks else 1

    def rotate(self, name: str) -> None:
        old, self.key = self.key, Key(name)
        said = {"v": 1, "log": self.id, "at": self.tick(), "public": self.key.public}
        statement = canonical({**said, "from": old.id, "to": self.key.id})
        self.key_lines.append(self._key_line(statement, old.sign(statement)))
        self.record("rotation", "")

    def leaves(self, first: int, count: int) -> list[bytes]:
        headers = self.headers[first - 1 : first - 1 + count]
        texts = [json.dumps(h, ensure_ascii=False, separators=(",", ":")) for h in headers]
        return [leaf(text.encode()) for text in texts]

    def tree(self, first: int, count: int) -> Tree:
        return Tree(self.leaves(first, count))

    def _row(self, seq: int) -> dict[str, Any]:
        return dict(zip(NAMES, self.headers[seq - 1][1:], strict=False))

    def matches(self, wanted: Mapping[str, Any], seq: int) -> bool:
        row = self._row(seq)
        spans = {"from", "to", "first", "last"}
        after = row["at"] >= wanted.get("from", "") and seq >= wanted.get("first", 1)
        before = row["at"] < wanted.get("to", "9") and seq <= wanted.get("last", seq)
        equal = all(row[name] == value for name, value in wanted.items() if name not in spans)
        return after and before and equal

    def checkpoint(self, n: int) -> Line:
        return {"block": canonical(self.blocks[n - 1]), "signature": self.signatures[n - 1]}

    def bundle(
        self,
        wanted: Mapping[str, Any] = {},
        *,
        complete: bool = False,
        sinks: Iterable[str] = ("file",),
        pruned: Mapping[int, int] = {},
    ) -> list[Line]:
        """Return the lines of a bundle; `pruned` maps records without text to why."""
        head: Line = {"type": "bundle", "format": "toolpolicy-bundle/2", "log": self.id}
        head |= {"made_at": self.tick(), "made_by": "ann", "filter": dict(wanted)}
        head |= {"complete": complete, "key": self.key_lines[0]["key"]}
        lines = [head, *self.key_lines]
        for block in self.blocks[self._from(wanted, complete) :]:
            leaves = self.leaves(block["first"], block["count"])
            told = {"leaves": [digest.hex() for digest in leaves]} if complete else {}
            lines.append({"type": "block", **self.checkpoint(block["n"]), **told})
            lines += self._records(block, wanted, complete, pruned)
        newest = self.checkpoint(len(self.blocks))
        return lines + [{"type": "checkpoint", "sink": name, **newest} for name in sinks]

    def _from(self, wanted: Mapping[str, Any], complete: bool) -> int:
        """Return how many blocks are before the first that is needed."""
        if complete:
            first = wanted.get("first", 1)
            return sum(b["first"] + b["count"] <= first for b in self.blocks)
        hits = (seq for seq in range(1, self._end()) if self.matches(wanted, seq))
        first = next(hits, self._end())
        return sum(block["first"] + block["count"] <= first for block in self.blocks)

    def _records(
        self, block: Line, wanted: Mapping[str, Any], complete: bool, pruned: Mapping[int, int]
    ) -> Iterator[Line]:
        tree = self.tree(block["first"], block["count"])
        for seq in range(block["first"], block["first"] + block["count"]):
            place = {"seq": seq, "header": self.headers[seq - 1]}
            if not complete:
                place["proof"] = [d.hex() for d in tree.path(seq - block["first"])]
            if self.matches(wanted, seq):
                gone = {"expired": pruned[seq]} if pruned.get(seq) else {}
                text = None if seq in pruned else self.texts[seq - 1]
                yield {"type": "record", **place, "text": text, **gone}
            elif complete or seq in pruned.values():
                cited = {"text": self.texts[seq - 1]} if seq in pruned.values() else {}
                yield {"type": "other", **place, **cited}


def written(lines: Iterable[Line], **counts: int) -> bytes:
    """Return the bytes of a bundle: its lines and the end line."""
    told, parts = Counter[str](), []
    for line in lines:
        told[str(line.get("type"))] += 1
        parts.append(canonical(line).encode() + b"\n")
    body = b"".join(parts)
    numbers = {f"{name}s": told[name] for name in ("record", "other", "block")} | counts
    end = {"type": "end", **numbers, "sha256": hashlib.sha256(body).hexdigest()}
    return body + canonical(end).encode() + b"\n"


def some_log(name: str = "log", *, denied: int = 3, gaps: Sequence[Any] = ()) -> Log:
    """Return a log of six blocks: two keys, an empty block, a segment, a pruning."""
    log = Log(name)
    for n in range(5):
        log.record(tool="send" if n % 2 else "read", outcome="deny" if n == denied else "allow")
    log.seal()
    log.record(tool="read")
    log.record(tool="send")
    log.rotate(f"{name} 2")
    log.seal(gaps=[list(gap) for gap in gaps])
    log.seal()
    for n in range(7):
        log.record(tool="send" if n in {1, 4} else "read")
    log.seal(segment=2, note="the disk was full")
    log.record("prune", "", {"bodies": [[2, 4]]})
    log.seal()
    log.record(tool="send")
    log.seal()
    return log


def judged(folder: Path, data: bytes, key: str = "", copies: Iterable[bytes] = ()) -> Line:
    """Return the verifier's verdict on these bytes, given a key and files of checkpoints."""
    path = folder / "bundle"
    path.write_bytes(data)
    kept = []
    for number, copy in enumerate(copies):
        kept.append(str(folder / f"copy{number}"))
        Path(kept[-1]).write_bytes(copy)
    return verify(str(path), key, kept)


def places(lines: list[Line], name: str) -> list[int]:
    return [n for n, line in enumerate(lines) if line["type"] == name]
