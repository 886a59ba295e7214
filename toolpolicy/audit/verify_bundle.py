#!/usr/bin/env python3
"""Check a toolpolicy bundle offline: its records are those that were sealed, in their order.

    python verify_bundle.py BUNDLE [--key FINGERPRINT] [--checkpoint FILE]... [--json]

BUNDLE is a file, plain or gzip, or - for standard input. Exit code 0: good. 1: broken, and where;
in a file, more than the first place. 2: incomplete: cut off, nothing to check, or something is not
there without which nothing is proven. Nothing is needed but Python 3.9, nothing is trusted but
signatures; memory holds the records of one block. The format is in docs/audit.md.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
import zlib
from collections import Counter
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

LONGEST_LINE, BARE = 32 << 20, 4 << 20  # bytes of a line; the second of what of it is in no string
SEARCHED, MOST = 256 << 20, 20  # bytes after a break, for what is lost; breaks that are named
EXITS, CUT, OLD, FULL = {"good": 0, "broken": 1, "incomplete": 2}, 64, 182, 1000  # sizes; days
Object = dict[str, Any]


class Fault(Exception):
    """What ends a verification: how it is bad, or `incomplete`; what is; its place (a dict)."""


def need(good: Any, what: str, kind: str = "altered", **place: int) -> None:
    """Raise Fault unless it is so."""
    if not good:
        raise Fault(kind, what, place)


# Ed25519, RFC 8032 §5.1. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.
Point = tuple[int, int, int, int]
P, SIGN, ORDER = 2**255 - 19, 1 << 255, 2**252 + 27742317777372353535851937790883648493
D, ROOT_OF_MINUS_1 = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)


def plus(a: Point, b: Point) -> Point:
    """Return the sum of two points, equal or not."""
    low, high = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    across, depth = 2 * D * a[3] * b[3] % P, 2 * a[2] * b[2] % P
    e, f, g, h = high - low, depth - across, depth + across, high + low
    return e * f % P, g * h % P, f * g % P, e * h % P


def point(data: bytes) -> Point:
    """Decode 32 bytes. Raise Fault for what is no point, or not the one way to write it."""
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (SIGN - 1)
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    x = x if (v * x * x - u) % P == 0 else x * ROOT_OF_MINUS_1 % P
    need(y < P and (v * x * x - u) % P == 0 and (x or not odd), "it is no point of the curve")
    x = x if x & 1 == odd else P - x
    return x, y, 1, x * y % P


class PublicKey:
    """A public key. Raise Fault when the text is not that of one, or it is of small order."""

    def __init__(self, text: str) -> None:
        self.raw = octets(text, 32)
        x, y, z, t = eightfold = point(self.raw)
        for _ in range(3):
            eightfold = plus(eightfold, eightfold)
        need(eightfold[0], "a key of small order signs anything")
        base, minus = point((4 * pow(5, -1, P) % P).to_bytes(32, "little")), (P - x, y, z, P - t)
        self.sums = (0, 1, 1, 0), base, minus, plus(base, minus)
        self.fingerprint = hashlib.sha256(self.raw).hexdigest()
        self.id = self.fingerprint[:16]

    def signed(self, text: str, signature: Any) -> bool:
        raw = octets(signature, 64)
        digest = hashlib.sha512(raw[:32] + self.raw + text.encode()).digest()
        s, k = int.from_bytes(raw[32:], "little"), int.from_bytes(digest, "little") % ORDER
        at = self.sums[0]
        for bit in range(252, -1, -1):  # s times the base less k times the key
            at, which = plus(at, at), (s >> bit & 1) + 2 * (k >> bit & 1)
            at = plus(at, self.sums[which]) if which else at
        x, y = (value * pow(at[2], -1, P) % P for value in at[:2])
        return s < ORDER and (y + (x & 1) * SIGN).to_bytes(32, "little") == raw[:32]


def hashed(*parts: bytes) -> bytes:
    """Return the digest of what begins with 0 for a leaf, 1 for a node, 2 for a block."""
    return hashlib.sha256(b"".join(parts)).digest()


def root_of(level: list[bytes]) -> bytes:
    """Return the root over leaves (RFC 6962); a last node without a sibling moves up as it is."""
    while len(level) > 1:
        pairs = [hashed(b"\x01", *level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) & ~1 :]
    return level[0] if level else hashed()


def leads(leaf: bytes, index: int, block: Object, path: list[Any]) -> bool:
    """Whether an audit path leads from a leaf to the root of a block."""
    siblings, size = iter(path), block["count"]
    with suppress(Fault, ValueError):
        while size > 1:
            if index ^ 1 < size:
                sibling = octets(next(siblings, None), 32)
                leaf = hashed(b"\x01", *((sibling, leaf) if index & 1 else (leaf, sibling)))
            index, size = index >> 1, (size + 1) >> 1
        return next(siblings, None) is None and leaf.hex() == block["root"]
    return False


def octets(value: Any, size: int) -> bytes:
    """Return so many bytes from hex. Raise Fault or ValueError when it is anything else."""
    found = bytes.fromhex(value) if isinstance(value, str) and len(value) == 2 * size else b""
    need(found.hex() == value, f"{size} bytes in hex are not there")
    return found


def once(pairs: list[tuple[str, Any]]) -> Object:
    """Return an object. Raise Fault when two readers could read two things."""
    need(len(found := dict(pairs)) == len(pairs), "a member is there twice")
    return found


READER = json.JSONDecoder(object_pairs_hook=once, parse_constant=int)  # no int is NaN
WRITE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
LETTERS = {str: "s", int: "i", bool: "b", dict: "o", list: "l", type(None): "n", type(...): "-"}
SHAPES = {
    "bundle": "type:s format:s log:s made_at:t made_by:s filter:o complete:b key:s",
    "key": "type:s key:s public:s statement:sn signature:sn",
    "block": "type:s block:s signature:s leaves:l-",
    "record": "type:s seq:i header:l text:sn proof:l- expired:i-",
    "other": "type:s seq:i header:l text:s- proof:l-",
    "checkpoint": "type:s sink:s block:s signature:s",
    "end": "type:s records:i others:i blocks:i sha256:s",
    "copy": "block:s signature:s",
    "statement": "v:i log:s from:s to:s public:s at:t",
    "sealed": "v:i log:s n:i segment:i first:i count:i root:s previous:s at:t from:tn to:tn "
    "outcomes:o gaps:l key:s note:s",
    "header": "form:s uid:s kind:s at:t writer_id:s writer_n:i text_hash:s surface:s outcome:s "
    "reason_code:s family:s tool:s agent:s channel:s session:s client_id:sin client_key_id:s "
    "layer:s rule:s policy_version:in actor_label:s object_label:s request_id:s idempotency_key:s "
    "request_digest:s",
    "filter": "from:t- to:t- first:i- last:i-",  # spans; `to` itself is left out
}
KINDS = {name: dict(pair.split(":") for pair in text.split()) for name, text in SHAPES.items()}
FIELDS, SPANS = KINDS["header"], KINDS["filter"]
KINDS["filter"] = {**SPANS, **dict.fromkeys(FIELDS, "sin-")}
PARTS = {"bundle": 0, "key": 1, "block": 2, "record": 2, "other": 2, "checkpoint": 3, "end": 4}
# A part of the text, its member, the column that repeats that; most texts: those of two lines.
PLACES = """.id:uid .kind:kind .at:at writer.id:writer_id writer.n:writer_n
actor.label:actor_label actor.key_id:client_key_id origin.request_id:request_id
asker.label:actor_label asker.key_id:client_key_id policy.version:policy_version
context.agent:agent context.channel:channel context.session:session answer.surface:surface
answer.outcome:outcome answer.reason_code:reason_code tool.family:family tool.name:tool
blocked_by.layer:layer blocked_by.rule:rule"""
COPIES = [re.split("[.:]", pair) for pair in PLACES.split()]
JUDGED, LASTING = {"decision", "simulation", "listing"}, {"prune", "erase", "rotation", "repair"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


def shaped(found: Object, shape: str) -> Object:
    """Return an object with just the members of a shape. Raise Fault when it is another one."""
    kinds, get = KINDS[shape], found.get
    odd = [name for name, k in kinds.items() if LETTERS.get(type(get(name, ...)), "?") not in k]
    wrong = [name for name in odd if "t" not in kinds[name] or not TIME.fullmatch(str(get(name)))]
    wrong += found.keys() - kinds.keys()
    need(not wrong, f"members are not there, not known or of a wrong type: {sorted(wrong)!a:.300}")
    return found


def parse(text: str, shape: str = "") -> Object:
    """Read an object of a shape, or a line of its type. Raise Fault, ValueError, RecursionError."""
    if len(text) > BARE:  # many small things take far more memory than their bytes
        bare = re.sub('"[^"]*"', '"', text.replace("\\\\", "").replace('\\"', ""))
        need(len(bare) < BARE, "it holds too many things")
    found = READER.decode(text)
    need(isinstance(found, dict) and (shape or found.get("type") in list(PARTS)), "of no type")
    return shaped(found, shape or found["type"])


def block_of(line: Object) -> Object:
    """Read the block of a line, with its `hash` and the numbers of its records, `seqs`."""
    block = parse(line["block"], "sealed")
    n, first, end = block["n"], block["first"], block["first"] + block["count"]
    need(block["v"] == 1 and min(n, first) > 0 and 0 <= end - first <= FULL, "no block")
    return {**block, "hash": hashed(b"\x02", line["block"].encode()), "seqs": range(first, end)}


def row_of(line: Object) -> Object:
    """Read the header of a line, with its `seq`, `type` and `leaf`."""
    items = dict(enumerate(line["header"]))
    row = shaped({name: items.pop(i, ...) for i, name in enumerate(FIELDS)}, "header")
    text = WRITE(line["header"])
    need(row["form"] == "toolpolicy-record/1" and not items and len(text) < 1 << 16, "no header")
    return {**row, "seq": line["seq"], "type": line["type"], "leaf": hashed(b"\x00", text.encode())}


def asked(wanted: Object, row: Object) -> bool:
    """Whether a filter asks for a record."""
    seqs = wanted.get("first", row["seq"]) <= row["seq"] <= wanted.get("last", row["seq"])
    times = wanted.get("from", "") <= row["at"] < wanted.get("to", "~")
    return seqs and times and all(row[name] == wanted[name] for name in wanted.keys() - SPANS)


def contradicted(row: Object, own: Object) -> list[str]:
    """Return the columns of a header of which the record's text says something else."""
    judged, wrong = row["kind"] in JUDGED, list[str]()
    writer = own["writer"] if isinstance(own.get("writer"), dict) else {}
    parts = {**own, **(own.get("answer", {}) if judged else {}), "": own, "writer": writer}
    for part, member, column in COPIES if judged else COPIES[:8]:
        told = {} if parts.get(part, 0) is None else parts.get(part)
        if isinstance(told, dict) and row[column] != told.get(member):
            both = ("" if v is None else str(v) for v in (row[column], told.get(member)))
            value, said = (text.replace("\0", "\\0") for text in both)
            same = value == said or (len(value) >= CUT and said.startswith(value))
            wrong += [] if same else [column]
    return wrong


class Bundle:
    """What is known of a bundle as far as it was read."""

    def __init__(self, pinned: str) -> None:
        self.pinned, self.line, self.part, self.told = pinned, 0, -1, Object()  # the first line
        self.digest, self.counts, self.newest = hashlib.sha256(), Counter[str](), Counter[str]()
        self.keys, self.least_key, self.given_key = list[PublicKey](), 0, 0
        self.block: Object = {"n": 0, "seqs": range(1, 1), "hash": bytes(32), "segment": 1}
        self.rows, self.leaves, self.root = dict[int, Object](), list[Any](), ""  # that block's
        self.start, self.hashes = 0, bytearray()  # of the block before the first, and of all
        self.gone, self.proven = dict[int, list[Any]](), Counter[int]()  # time, spans; by segment
        self.first, self.closed, self.notes = 0, 0, list[str]()  # by the first block with a note
        self.signed, self.passed = 0, 0  # lines: of the last block, of a break before

    def again(self) -> None:
        """Go back to the beginning, to go on with the next signed block behind a break."""
        there = self.line == self.signed  # and does not follow the one before
        self.passed, self.line, self.digest = self.line - there, 0, hashlib.sha256()
        self.rows, self.hashes, self.signed, self.closed = {}, bytearray(), 0, 0
        self.block = {**self.block, "n": self.block["n"] - there}

    def read(self, file: Any) -> None:
        self.file = gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file
        while raw := self.file.readline(LONGEST_LINE + 1):
            self.line += 1
            try:
                if self.line > self.passed:
                    need(len(raw) <= LONGEST_LINE, "the line is too long")
                    self.order(line := parse(raw.decode()))
                    getattr(self, f"read_{line['type']}", self.read_record)(line)
                    self.counts[line["type"]] += 1
                    need(raw[-2:] == b"}\n", "the line is cut off at its end", "incomplete")
            except (ValueError, TypeError, RecursionError) as error:
                kind = "altered" if raw.endswith(b"\n") else "incomplete"
                raise Fault(kind, f"it is no line of a bundle: {error}", {}) from None
            self.digest.update(raw)
        need(self.part == PARTS["end"], "it is cut off: its last line is missing", "incomplete")

    def lost(self, what: str, lacks: Any, *kinds: str, **place: int) -> Fault:
        """Return a fault of the first kind; of the second when what it lacks comes later."""
        left, moved, place = SEARCHED, False, {"line": self.line, **place}
        with suppress(OSError, EOFError, ValueError, zlib.error):  # a file at its end is closed
            while not moved and left > 0 and (raw := self.file.readline(LONGEST_LINE + 1)):
                left -= len(raw)
                with suppress(ValueError, LookupError, RecursionError, Fault):
                    moved = b'"sink"' not in raw and lacks(parse(raw.decode()))
        what = what if kinds else f"{what} is not in its place"
        return Fault((kinds or ("missing", "reordered"))[moved], what, place)

    def order(self, line: Object) -> None:
        name, again = line["type"], line["type"] == "bundle"
        if not self.told and not again:
            raise self.lost("the first line", lambda other: other["type"] == "bundle")
        late = PARTS[name] < self.part + again or self.counts["checkpoint"] > MOST
        need(not late, f"`{name}` comes too late", "duplicated" if again else "reordered")
        if self.part < PARTS["block"] <= PARTS[name]:
            given = [n for n, k in enumerate(self.keys) if k.fingerprint.startswith(self.pinned)]
            need(given, "the log does not have the key that was given, or any", "foreign")
            self.given_key = given[0]
        self.part = PARTS[name]

    def read_bundle(self, line: Object) -> None:
        known = line["format"] == "toolpolicy-bundle/2"
        need(known, f"its format {line['format']!a:.50} is not known", "incomplete")
        self.told = {**line, "filter": shaped(line["filter"], "filter")}

    def read_key(self, line: Object) -> None:
        key, chain, told = PublicKey(line["public"]), self.keys, self.told
        need(key.id not in [known.id for known in chain], "this key is there twice", "duplicated")
        said = parse(line["statement"] or "", "statement") if chain else {"from": told["key"]}
        before = said["from"]
        if before != (chain[-1] if chain else key).id:
            raise self.lost(f"key {before!a:.50}", lambda other: other.get("key") == before)
        own = {"v": 1, "log": told["log"], "to": key.id, "public": line["public"]}
        good = {**said, **own} == said if chain else line["statement"] is None is line["signature"]
        good = good and (not chain or chain[-1].signed(line["statement"], line["signature"]))
        need(good and line["key"] == key.id, "this key is not introduced by the one before it")
        self.keys.append(key)

    def read_block(self, line: Object) -> None:
        block, before = block_of(line), self.block
        n, due = block["n"], before["n"] + 1
        same = self.hashes[32 * (n - self.start) :][:32] == block["hash"]
        place = self.signer(line, block, due if self.hashes else n)
        again = "reordered" if n <= self.start else "duplicated" if same else "inserted"
        need(n >= due, "it comes again, or too late", again, block=n)
        need(place >= self.least_key, "its key was replaced before", "inserted", block=n)
        need(self.told["complete"] == ("leaves" in line), "leaves are missing or idle", block=n)
        self.signed = self.line if self.hashes else 0
        self.close()
        if self.hashes and n > due:
            raise self.lost(f"block {due}", lambda other: block_of(other)["n"] == due, block=due)
        links = before["seqs"].stop, before["hash"].hex(), before["segment"] + (block["note"] != "")
        linked = links == (block["first"], block["previous"], block["segment"])
        need(linked or n > due, f"it does not follow block {n - 1}: one was rewritten", block=n)
        if not self.hashes:
            self.start, self.first = n - 1, block["first"]
            self.hashes += octets(block["previous"], 32)
        self.block, self.rows, self.leaves, self.root = block, {}, line.get("leaves", []), ""
        self.least_key, self.closed = place, self.closed or (n if block["note"] else 0)
        self.hashes += block["hash"]
        with suppress(Fault, ValueError):
            self.root = root_of([octets(leaf, 32) for leaf in self.leaves]).hex()
        self.notes += [f"{k} of block {n}: {block[k]!a:.500}" for k in ("note", "gaps") if block[k]]

    def signer(self, line: Object, block: Object, n: int) -> int:
        named = block["key"]
        key = next((key for key in self.keys if key.id == named), None)
        good = not key or key.signed(line["block"], line["signature"])
        need(good, "its signature is not one of its text", block=n)
        need(block["log"] == self.told["log"], "it is of another log", "foreign", block=n)
        if not key:
            raise self.lost(f"key {named!a:.50}", lambda other: other.get("key") == named)
        return self.keys.index(key)

    def close(self) -> None:
        block, rows, n = self.block, [*self.rows.values()], self.block["n"]
        if self.told["complete"] and self.hashes:
            self.due(block["seqs"].stop)
            good = (self.root, len(self.leaves)) == (block["root"], block["count"])
            need(good, "a leaf of it was altered, or more with its header", line=0, block=n)
            times, outcomes = sorted(row["at"] for row in rows), Counter(r["outcome"] for r in rows)
            own = {"from": times[0] if rows else None, "to": times[-1] if rows else None}
            wrong = [k for k, value in {**own, "outcomes": outcomes}.items() if block[k] != value]
            need(not wrong, f"its records have other {', '.join(wrong)}", line=0, block=n)
            need(not block["gaps"], "records were deleted unsealed", "missing", line=0, block=n)
        for row in rows:
            kind = "missing" if row["type"] == "other" else "inserted"
            good = asked(self.told["filter"], row) == (kind == "inserted")
            what, place = "it is not what the filter asks for", {"line": row["line"], "block": n}
            need(good, what, kind, seq=row["seq"], **place)
            self.proven[block["segment"]] += 1

    def due(self, seq: int) -> int:
        due: int = next(reversed(self.rows), self.block["seqs"].start - 1) + 1
        if self.told["complete"] and due < seq:
            raise self.lost(f"record {due}", lambda other: other.get("seq") == due, seq=due)
        return due

    def place(self, row: Object, seq: int) -> None:
        if not self.hashes or seq >= self.block["seqs"].stop:
            raise self.lost("its block", lambda other: seq in block_of(other)["seqs"], seq=seq)
        if seq < self.due(seq):
            known = self.rows.get(seq)
            again = "duplicated" if (known or row)["leaf"] == row["leaf"] else "inserted"
            kind = again if known or self.told["complete"] else "reordered"
            raise Fault(kind, "it comes again, or too late", {"seq": seq, "block": self.block["n"]})

    def read_record(self, line: Object) -> None:
        if self.passed and not self.hashes:
            return  # its block is a broken one
        row, seq, block = row_of(line), line["seq"], self.block
        self.place(row, seq)
        place: Object = {"seq": seq, "block": block["n"]}
        at, proof, gone = seq - block["first"], line.get("proof"), line.get("text") is None
        need(self.told["complete"] == (proof is None), "a proof is missing or idle", **place)
        good = proof is None or leads(row["leaf"], at, block, proof)
        need(good, "its header or proof is not as sealed", **place)
        if proof is None and self.leaves[at : at + 1] != [row["leaf"].hex()]:
            raise self.another(row["leaf"].hex(), self.leaves[at : at + 1], place)
        if not gone:
            self.check_text(row, line["text"], place)
        elif row["type"] == "record":
            by = line.get("expired", 0) if row["kind"] not in LASTING else 0
            lost = self.gone.setdefault(by, [row["at"], [seq, seq]])
            lost += [[seq, seq]] if lost[-1][1] + 1 < seq else []
            lost[0], lost[-1][1] = max(lost[0], row["at"]), seq
        self.counts["expired"] += gone and row["type"] == "record"
        self.rows[seq] = {**row, "line": self.line}

    def another(self, leaf: str, own: list[Any], place: Object) -> Fault:
        """Return the fault of a header that is not the one whose leaf has its number."""
        known = self.leaves.index(leaf) + self.block["first"] if leaf in self.leaves else 0
        lone = "as sealed" if self.root == self.block["root"] else "that of its leaf"
        what = f"record {known} stands in its place" if known else f"its header is not {lone}"
        kind = "missing" if known > place["seq"] else "duplicated" if known else "altered"
        kinds = kind, "reordered" if known else "inserted"
        return self.lost(what, lambda r: [row_of(r)["leaf"].hex()] == own, *kinds, **place)

    def check_text(self, row: Object, text: str, place: Object) -> None:
        digest, what = hashed(b"\x00", text.encode()).hex(), "its text is not as sealed"
        if digest != row["text_hash"]:
            known = digest in [other["text_hash"] for other in self.rows.values()]
            kinds = "reordered" if known else "altered", "reordered"
            raise self.lost(what, lambda r: row_of(r)["text_hash"] == digest, *kinds, **place)
        own = READER.decode(text)
        wrong = contradicted(row, own) if isinstance(own, dict) else ["all"]
        need(not wrong, f"its header and its text tell two things: {', '.join(wrong)}", **place)
        newest, *lost = self.gone.pop(row["seq"] if row["kind"] == "prune" else -1, [""])
        for first, last in lost:
            days = (date.fromisoformat(row["at"][:10]) - date.fromisoformat(newest[:10])).days
            told = any(low <= first and last <= high for low, high in own.get("bodies", ()))
            if not told or last > row["seq"] or (days < OLD and own.get("before") is not None):
                self.gone.setdefault(0, [newest]).append([first, last])
        if lost and own.get("before") is None and len(self.notes) < MOST:
            self.notes += [f"record {row['seq']} deleted texts on request: {own.get('why')!a:.300}"]

    def read_checkpoint(self, line: Object, who: str = "") -> None:
        block, head, told = block_of(line), self.block["n"], self.told
        n, known = block["n"], self.hashes[32 * (block["n"] - self.start) :][:32] or block["hash"]
        what, same = f"block {n} that {who or line['sink']!a:.200} holds", known == block["hash"]
        late = n > head and (block["at"] >= told["made_at"] or not self.hashes)
        need(late or n <= head, f"{what} is not there: the end is cut off", "missing", block=n)
        if not late and not (who and same):
            self.signer(line, block, n)
        need(same or late or n < self.start, f"{what} is another one: it was rewritten", block=n)
        how = "newer" if late else "older" if not same else "own" if who else "told"
        self.counts[f"{how} checkpoint"] += 1
        self.newest[how] = max(n, self.newest[how]) if who else 0

    def read_copies(self, path: str) -> None:
        with Path(path).open("rb") as file:
            while raw := file.readline(LONGEST_LINE):
                try:
                    block_of(line := parse(raw.decode(), "copy"))
                except (Fault, ValueError, RecursionError):
                    raise Fault("incomplete", f"{path!a} does not hold checkpoints", {}) from None
                self.read_checkpoint(line, path)

    def read_end(self, line: Object) -> None:
        self.close()
        whole, rest = line["sha256"] == self.digest.hexdigest(), self.file.readline(LONGEST_LINE)
        again = "duplicated" if b'"sha256"' in rest else "inserted"
        need(not rest, "there are lines after its last one", again if whole else "reordered")
        for name in ("record", "other", "block") if not self.passed else ():
            more = self.counts[name] - line[f"{name}s"]
            need(not more, f"it tells of other {name}s", "missing" if more < 0 else "inserted")
        need(whole, "its bytes are not those that its last line was made for")


def report(bundle: Bundle, breaks: list[Object], *, own: bool) -> Object:
    """Return the verdict with its `exit` code: what was found, where, and what is not known."""
    told, head, newest, counts = bundle.told, bundle.block["n"], bundle.newest, bundle.counts
    gone = sum(end - n + 1 for _, *spans in bundle.gone.values() for n, end in spans)
    whole, wanted = told.get("complete", False), told.get("filter", {}).get("first", 1)
    none, empty = "there is nothing to check: it holds no", not whole + counts["record"]
    lacks = {
        f"{none} block": not bundle.hashes,
        f"{none} record, and only a complete bundle proves that its filter asks for none": empty,
        "records before its first block may be asked for": whole and wanted < bundle.first,
        f"{gone} texts are gone, and no pruning that is shown tells of them": gone,
        "no block is sealed with the given key": bundle.least_key < bundle.given_key,
        "no given checkpoint is one of its blocks": own and not newest["own"],
    }
    doubts = {
        "what expired texts said: their headers hold": counts["expired"],
        "whether the key is the log's: compare its fingerprint, or give --key": not bundle.pinned,
        "whether who holds the key rewrote the log: give a --checkpoint from outside": not own,
        f"whether they rewrote what follows block {newest['own']}": 0 < newest["own"] < head,
        f"what follows block {head}: a given checkpoint is of a later one": newest["newer"],
        "whether the filter asks for more records: it is not a complete bundle": not whole,
    }
    lack, unknown = ([text for text in texts if texts[text]] for texts in (lacks, doubts))
    text, end = "; ".join(lack) or "all is as it was sealed", {"line": bundle.line}
    breaks = breaks or [{"kind": "incomplete" if lack else "good", "what": text, "place": end}]
    verdict = breaks[0]["kind"] if breaks[0]["kind"] in EXITS else "broken"
    found = {"verdict": verdict, "exit": EXITS[verdict], **breaks[0]}
    found.update({name: told.get(name) for name in ("log", "filter", "complete", "made_at")})
    found.update(counts={**counts}, proven={**bundle.proven}, notes=bundle.notes, unknown=unknown)
    found.update(until=[head, bundle.block.get("at")], breaks=breaks * (verdict != "good"))
    return {**found, "keys": [key.fingerprint for key in bundle.keys]}


def verify(path: str, pinned: str, copies: list[str]) -> Object:
    """Return what `report` tells of a bundle, given a key and files of checkpoints."""
    bundle, breaks = Bundle(pinned), list[Object]()
    while True:
        kind, what, place = "good", "", Object()
        try:
            with os.fdopen(0, "rb") if path == "-" else Path(path).open("rb") as file:
                bundle.read(file)
            for copy in copies:
                bundle.read_copies(copy)
        except Fault as found:
            kind, what, place = found.args
        except (gzip.BadGzipFile, zlib.error) as error:
            kind, what = "altered", f"its compression is damaged: {error}"
        except (OSError, EOFError, ValueError, MemoryError, KeyboardInterrupt) as error:
            kind, what = "incomplete", f"a file cannot be read to its end: {error}"
        breaks = [{**one, "closed_by": one["closed_by"] or bundle.closed} for one in breaks]
        place = {name: n for name, n in {"line": bundle.line, **place}.items() if n}
        breaks += [{"kind": kind, "what": what, "place": place, "closed_by": 0}] * (kind != "good")
        if kind in EXITS or bundle.part != PARTS["block"] or path == "-" or len(breaks) == MOST:
            return report(bundle, breaks, own=bool(copies))
        bundle.again()


def main() -> int:
    """Read the command line, print the verdict, return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("bundle", help="a file, or -")
    parser.add_argument("--key", help="16 or more digits of a key's SHA-256")
    parser.add_argument("--checkpoint", action="append", default=[], help="your copies of blocks")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not re.fullmatch("[0-9a-f]{16,64}", "0" * 16 if given.key is None else given.key):
        parser.error("--key takes 16 to 64 hex digits")
    found, lines = verify(given.bundle, given.key or "", given.checkpoint), list[str]()
    for one in found["breaks"] or [found]:
        where = ", ".join([one["kind"], *(f"{name} {n}" for name, n in one["place"].items())])
        lines += [f"{found['verdict'].upper()}: {one['what']} ({where})"]
    closed = {one["closed_by"] for one in found["breaks"] if one.get("closed_by")}
    lines += [f"repaired: block {n} closed the log before it" for n in sorted(closed)]
    for name in ("log", "keys", "filter", "complete", "made_at", "until", "counts", "proven"):
        lines += [f"{name}: {found[name]!a}"]
    lines += [f"{name}: {text}" for name in ("notes", "unknown") for text in found[name]]
    text = json.dumps(found) if given.json else "\n".join(lines)
    with suppress(OSError), os.fdopen(1, "wb", closefd=False) as out:
        out.write(text.encode("ascii", "backslashreplace") + b"\n")
    return int(found["exit"])


if __name__ == "__main__":
    sys.exit(main())
