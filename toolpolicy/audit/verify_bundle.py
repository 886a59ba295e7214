#!/usr/bin/env python3
"""Check a toolpolicy bundle offline: its records are those that were sealed, in their order.

    python verify_bundle.py BUNDLE [--key FINGERPRINT] [--checkpoint FILE]... [--json]

BUNDLE is a file, plain or gzip, or - for standard input. The exit code is 0 when it is good, 1 when
it is broken (the first bad place is named), 2 when it is incomplete: cut off, nothing to check, or
something is not there without which nothing is proven. Nothing is needed but Python 3.9, nothing is
trusted but signatures; memory holds the records of one block. The format is in docs/audit.md.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

LONGEST_LINE, SEARCHED = 32 << 20, 256 << 20  # bytes; the second after a break, for what is lost
EXITS = {"good": 0, "broken": 1, "incomplete": 2}
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


def root_from(digest: bytes, index: int, size: int, path: list[Any]) -> bytes:
    """Return the root that an audit path leads to. Raise Fault when it is none."""
    siblings = iter(path)
    while size > 1:
        if index ^ 1 < size:
            sibling = octets(next(siblings, None), 32)
            digest = hashed(b"\x01", *((sibling, digest) if index & 1 else (digest, sibling)))
        index, size = index >> 1, (size + 1) >> 1
    need(next(siblings, None) is None, "its proof is too long")
    return digest


def octets(value: Any, size: int) -> bytes:
    """Return so many bytes from hex. Raise Fault or ValueError when it is anything else."""
    found = bytes.fromhex(value) if isinstance(value, str) and len(value) == 2 * size else b""
    need(len(found) == size, f"{size} bytes in hex are not there")
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
    "block": "type:s block:s signature:s",
    "record": "type:s seq:i header:l text:sn proof:l- expired:i-",
    "other": "type:s seq:i header:l proof:l-",
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
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


def letter(value: Any, kinds: str) -> str:
    """Return the letter of a value's type in a shape; `t` is a time, `-` what is not there."""
    time = "t" in kinds and isinstance(value, str) and TIME.fullmatch(value)
    return "t" if time else LETTERS.get(type(value), "?")


def shaped(found: Object, shape: str) -> Object:
    """Return an object with just the members of a shape. Raise Fault when it is another one."""
    kinds = KINDS[shape]
    wrong = [name for name, k in kinds.items() if letter(found.get(name, ...), k) not in k]
    wrong += found.keys() - kinds.keys()
    need(not wrong, f"members are not there, not known or of a wrong type: {sorted(wrong)!a:.300}")
    return found


def parse(text: str, shape: str = "") -> Object:
    """Read an object of a shape, or a line of its type. Raise Fault, ValueError, RecursionError."""
    found = READER.decode(text)
    need(isinstance(found, dict) and (shape or found.get("type") in list(PARTS)), "of no type")
    return shaped(found, shape or found["type"])


def block_of(line: Object) -> Object:
    """Read the block of a line, with its `hash` and the numbers of its records, `seqs`."""
    block = parse(line["block"], "sealed")
    need(block["v"] == 1 and min(block["n"], block["first"], block["count"] + 1) > 0, "no block")
    seqs = range(block["first"], block["first"] + block["count"])
    return {**block, "hash": hashed(b"\x02", line["block"].encode()), "seqs": seqs}


def row_of(line: Object) -> Object:
    """Read the header of a line, with its `seq`, `type` and `leaf`."""
    items = dict(enumerate(line["header"]))
    row = shaped({name: items.pop(i, ...) for i, name in enumerate(FIELDS)}, "header")
    need(row["form"] == "toolpolicy-record/1" and not items, "its header is none")
    leaf = hashed(b"\x00", WRITE(line["header"]).encode())
    return {**row, "seq": line["seq"], "type": line["type"], "leaf": leaf}


def asked(wanted: Object, row: Object) -> bool:
    """Whether a filter asks for a record."""
    seqs = wanted.get("first", row["seq"]) <= row["seq"] <= wanted.get("last", row["seq"])
    times = wanted.get("from", "") <= row["at"] < wanted.get("to", "~")
    return seqs and times and all(row[name] == wanted[name] for name in wanted.keys() - SPANS)


class Bundle:
    """What is known of a bundle as far as it was read."""

    def __init__(self, pinned: str) -> None:
        self.pinned, self.line, self.part, self.told = pinned, 0, -1, Object()  # the first line
        self.digest, self.counts, self.copies = hashlib.sha256(), Counter[str](), Counter[str]()
        self.keys, self.least_key, self.given_key = list[PublicKey](), 0, 0
        self.block: Object = {"n": 0, "seqs": range(1, 1), "hash": bytes(32), "segment": 1}
        self.rows, self.first, self.notes = dict[int, Object](), 0, list[str]()  # that block's
        self.start, self.hashes = 0, bytearray()  # of the block before the first, and of all
        self.gone, self.pruned = Counter[int](), set[int]()  # texts, by the record that says so

    def read(self, file: Any) -> None:
        steps: dict[str, Any] = {"bundle": self.bundle, "key": self.key, "block": self.seal}
        steps.update({"checkpoint": self.compare, "end": self.end})
        self.file = gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file
        while raw := self.file.readline(LONGEST_LINE + 1):
            self.line += 1
            try:
                need(len(raw) <= LONGEST_LINE, "the line is too long")
                line = parse(raw.decode())
                self.order(line["type"])
                steps.get(line["type"], self.record)(line)
            except (ValueError, RecursionError) as error:
                kind = "altered" if raw.endswith(b"\n") else "incomplete"
                raise Fault(kind, f"it is no line of a bundle: {error}", {}) from None
            self.counts[line["type"]] += 1
            self.digest.update(raw)
        need(self.part == PARTS["end"], "it is cut off: its last line is missing", "incomplete")

    def lost(self, what: str, wanted: Any, **place: int) -> Fault:
        """Return the fault of what is not in its place: it comes later, or not at all."""
        left, moved, place = SEARCHED, False, {"line": self.line, **place}
        with suppress(OSError, EOFError, ValueError, zlib.error):  # a file at its end is closed
            while not moved and left > 0 and (raw := self.file.readline(LONGEST_LINE + 1)):
                left -= len(raw)
                with suppress(ValueError, LookupError, RecursionError, Fault):
                    moved = b'"sink"' not in raw and wanted(parse(raw.decode()))
        return Fault("reordered" if moved else "missing", f"{what} is not in its place", place)

    def order(self, name: str) -> None:
        if not self.told and name != "bundle":
            raise self.lost("the first line", lambda other: other["type"] == "bundle")
        again, late = name == "bundle", PARTS[name] < self.part + (name == "bundle")
        need(not late, f"`{name}` comes too late", "duplicated" if again else "reordered")
        if self.part < PARTS["block"] <= PARTS[name]:
            given = [n for n, k in enumerate(self.keys) if k.fingerprint.startswith(self.pinned)]
            need(given, "the log does not have the key that was given, or any", "foreign")
            self.given_key = given[0]
        self.part = PARTS[name]

    def bundle(self, line: Object) -> None:
        need(line["format"] == "toolpolicy-bundle/1", "its format is not known", "incomplete")
        shaped(line["filter"], "filter")
        self.told = line

    def key(self, line: Object) -> None:
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

    def seal(self, line: Object) -> None:
        block, before = block_of(line), self.block
        n, due = block["n"], before["n"] + 1
        same = self.hashes[32 * (n - self.start) :][:32] == block["hash"]
        place = self.signer(line, block, due if self.hashes else n)
        again = "reordered" if n <= self.start else "duplicated" if same else "inserted"
        need(n >= due or not self.hashes, "it comes again, or too late", again, block=n)
        self.close()
        if self.hashes and n > due:
            raise self.lost(f"block {due}", lambda other: block_of(other)["n"] == due, block=due)
        links = before["seqs"].stop, before["hash"].hex(), before["segment"] + (block["note"] != "")
        linked = links == (block["first"], block["previous"], block["segment"])
        need(linked or n > due, f"it does not follow block {n - 1}: one was rewritten", block=n)
        need(place >= self.least_key, "its key was replaced before", "inserted", block=n)
        if not self.hashes:
            self.start, self.first = n - 1, block["first"]
            self.hashes += octets(block["previous"], 32)
        self.block, self.rows, self.least_key = block, {}, place
        self.hashes += block["hash"]
        self.notes += [f"{k} of block {n}: {block[k]!a:.500}" for k in ("note", "gaps") if block[k]]

    def signer(self, line: Object, block: Object, n: int) -> int:
        named, ids = block["key"], [key.id for key in self.keys]
        place = ids.index(named) if named in ids else -1
        good = place < 0 or self.keys[place].signed(line["block"], line["signature"])
        need(good, "its signature is not one of its text", block=n)
        need(block["log"] == self.told["log"], "it is of another log", "foreign", block=n)
        if place < 0:
            raise self.lost(f"key {named!a:.50}", lambda other: other.get("key") == named)
        return place

    def close(self) -> None:
        block, rows, n = self.block, self.rows, self.block["n"]
        if self.told["complete"] and self.hashes:
            self.due(block["seqs"].stop)
            root = root_of([row["leaf"] for row in rows.values()]).hex()
            need(root == block["root"], "a header of it is not as sealed", line=0, block=n)
        for seq, row in rows.items():
            kind = "missing" if row["type"] == "other" else "inserted"
            place = {"line": row["line"], "seq": seq, "block": n}
            good = asked(self.told["filter"], row) == (kind == "inserted")
            need(good, "it is not what the filter asks for", kind, **place)

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

    def record(self, line: Object) -> None:
        row, block, seq, text = row_of(line), self.block, line["seq"], line.get("text")
        self.place(row, seq)
        place = {"seq": seq, "block": block["n"]}
        need(self.told["complete"] == ("proof" not in line), "a proof is missing or idle", **place)
        if "proof" in line:
            root = root_from(row["leaf"], seq - block["first"], block["count"], line["proof"])
            need(root.hex() == block["root"], "its header or proof is not as sealed", **place)
        if text is not None:
            digest, own = hashed(b"\x00", text.encode()).hex(), READER.decode(text)
            need(digest == row["text_hash"], "its text is not as sealed", **place)
            said = {"id": row["uid"], "kind": row["kind"], "at": row["at"]}
            said["writer"] = {"id": row["writer_id"], "n": row["writer_n"]}
            good = isinstance(own, dict) and {**own, **said} == own
            need(good, "its header and its text tell two things", **place)
        elif row["type"] == "record":
            self.gone[line.get("expired", 0) if line.get("expired", 0) > seq else 0] += 1
        self.pruned |= {seq} if row["kind"] == "prune" else set()
        self.rows[seq] = {**row, "line": self.line}

    def compare(self, line: Object, who: str = "") -> None:
        block, head, told = block_of(line), self.block["n"], self.told
        n, same = block["n"], self.hashes[32 * (block["n"] - self.start) :][:32] == block["hash"]
        what = f"block {n} that {who or line['sink']!a:.200} holds"
        late = n > head and (block["at"] >= told["made_at"] or not self.hashes)
        need(late or n <= head, f"{what} is not there: the end is cut off", "missing", block=n)
        if not late and not (who and same):
            self.signer(line, block, n)
        need(same or late or n < self.start, f"{what} is another one: it was rewritten", block=n)
        self.copies["newer" if late else "older" if not same else "own" if who else "told"] += 1

    def read_copies(self, path: str) -> None:
        with Path(path).open("rb") as file:
            while raw := file.readline(LONGEST_LINE):
                try:
                    block_of(line := parse(raw.decode(), "copy"))
                except (Fault, ValueError, RecursionError):
                    raise Fault("incomplete", f"{path!a} does not hold checkpoints", {}) from None
                self.compare(line, path)

    def end(self, line: Object) -> None:
        self.close()
        whole, rest = line["sha256"] == self.digest.hexdigest(), self.file.readline(LONGEST_LINE)
        again = "duplicated" if b'"sha256"' in rest else "inserted"
        need(not rest, "there are lines after its last one", again if whole else "reordered")
        for name in ("record", "other", "block"):
            more = self.counts[name] - line[f"{name}s"]
            need(not more, f"it tells of other {name}s", "missing" if more < 0 else "inserted")
        need(whole, "its bytes are not those that its last line was made for")


def report(bundle: Bundle, fault: Fault, *, own: bool) -> Object:
    """Return the verdict with its `exit` code: what was found, where, and what is not known."""
    (kind, what, place), told, copies = fault.args, bundle.told, bundle.copies
    counts = {**bundle.counts, "expired": sum(bundle.gone.values())}
    gone = sum(n for seq, n in bundle.gone.items() if seq not in bundle.pruned)
    whole, wanted = told.get("complete"), told.get("filter", {}).get("first", 1)
    lacks = {
        "there is nothing to check": not counts.get("record") and not (whole and bundle.hashes),
        "records before its first block may be asked for": whole and wanted < bundle.first,
        f"{gone} texts are gone, and no pruning that is shown tells of them": gone,
        "no block is sealed with the given key": bundle.least_key < bundle.given_key,
        "no given checkpoint is one of its blocks": own and not copies["own"],
    }
    doubts = {
        "what expired texts said: their headers hold": counts["expired"],
        "whether the key is the log's: compare its fingerprint, or give --key": not bundle.pinned,
        "whether who holds the key rewrote the log: give a --checkpoint from outside": not own,
        "whether the filter asks for more records: it is not a complete bundle": not whole,
    }
    if kind == "good" and any(lacks.values()):
        kind, what = "incomplete", "; ".join(text for text in lacks if lacks[text])
    verdict = kind if kind in EXITS else "broken"
    place = {name: n for name, n in {"line": bundle.line, **place}.items() if n}
    counts.update({f"{name} checkpoint": n for name, n in copies.items()})
    found = {"verdict": verdict, "exit": EXITS[verdict], "kind": kind, "what": what, "place": place}
    found.update(log=told.get("log"), keys=[key.fingerprint for key in bundle.keys], counts=counts)
    return {**found, "notes": bundle.notes, "unknown": [text for text in doubts if doubts[text]]}


def verify(path: str, pinned: str, copies: list[str]) -> Object:
    """Return what `report` tells of a bundle, given a key and files of checkpoints."""
    bundle, fault = Bundle(pinned), Fault("good", "all is as it was sealed", {})
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
            bundle.read(file)
        for copy in copies:
            bundle.read_copies(copy)
    except Fault as found:
        fault = found
    except (gzip.BadGzipFile, zlib.error) as error:
        fault = Fault("altered", f"its compression is damaged: {error}", {})
    except (OSError, EOFError, ValueError, MemoryError, KeyboardInterrupt) as error:
        fault = Fault("incomplete", f"it cannot be read to its end: {error}", {})
    return report(bundle, fault, own=bool(copies))


def main() -> int:
    """Read the command line, print the verdict, return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("bundle", help="a file, or -")
    parser.add_argument("--key", default="", help="16 or more digits of a key's SHA-256")
    parser.add_argument("--checkpoint", action="append", default=[], help="your copies of blocks")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not re.fullmatch("([0-9a-f]{16,64})?", given.key):
        parser.error("--key takes 16 to 64 hex digits")
    found = verify(given.bundle, given.key, given.checkpoint)
    where = ", ".join([found["kind"], *(f"{name} {n}" for name, n in found["place"].items())])
    lines = [f"{found['verdict'].upper()}: {found['what']} ({where})"]
    lines += [f"{name}: {found[name]!a}" for name in ("log", "keys", "counts")]
    lines += [f"{name}: {text}" for name in ("notes", "unknown") for text in found[name]]
    text = json.dumps(found) if given.json else "\n".join(lines)
    sys.stdout.write(text.encode("ascii", "backslashreplace").decode() + "\n")
    return int(found["exit"])


if __name__ == "__main__":
    sys.exit(main())
