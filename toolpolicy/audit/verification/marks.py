"""How far the log was verified: signed, so that nobody can move it to hide something before it."""

import json
from typing import Any

from django.utils import timezone

from toolpolicy.audit.blocks import block_hash, parse
from toolpolicy.audit.headers import moment
from toolpolicy.audit.signing import SealRefused, is_signed, signer
from toolpolicy.audit.verification.chain import Place
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.engine.canonical import dumps
from toolpolicy.models import AuditState, Block, SealKey


def place_verified(log: str, keys: list[SealKey]) -> Place:
    """Return the place up to which the log was verified; the beginning when nothing proves it."""
    state = AuditState.objects.filter(pk=1).first()
    mark = _signed(state.verified, keys) if state and state.verified else None
    block = Block.objects.filter(number=mark["n"]).first() if mark else None
    if mark is None or block is None or mark["log"] != log:
        return Place()
    if block_hash(block.text) != mark["hash"]:
        return Place()
    text = parse(block.text)
    names = [key.key_id for key in keys]
    key = names.index(text.key) if text.key in names else 0
    return Place(n=text.n, end=text.end, hash=mark["hash"], segment=text.segment, key=key)


def check_mark(verdict: Verdict, keys: list[SealKey]) -> None:
    """Find a mark that nobody signed, or one of a block that is another one now."""
    state = AuditState.objects.order_by("pk").first()
    if state is None or state.verified == "":
        return
    mark = _signed(state.verified, keys)
    if mark is None:
        verdict.find(Kind.ALTERED, "how far the log was verified is not as it was signed")
        return
    text = Block.objects.filter(number=mark["n"]).values_list("text", flat=True).first()
    if text is None:
        gone = f"the log was verified up to block {mark['n']}, which is gone"
        verdict.find(Kind.MISSING, gone, block=mark["n"])
    elif mark["log"] != verdict.log or block_hash(text) != mark["hash"]:
        other = f"block {mark['n']} is another one than when the log was verified"
        verdict.find(Kind.ALTERED, other, block=mark["n"])


def mark_verified(log: str, place: Place) -> None:
    """Note that the log is good up to a place; without the key nothing is noted."""
    try:
        key = signer()
    except SealRefused:
        return
    said = {"v": 1, "log": log, "n": place.n, "hash": place.hash, "at": moment(timezone.now())}
    text = dumps(said)
    mark = dumps({"mark": text, "signature": key.sign(text), "key": key.key_id})
    AuditState.objects.filter(pk=1).update(verified=mark)


def _signed(mark: str, keys: list[SealKey]) -> dict[str, Any] | None:
    try:
        found = json.loads(mark)
        public = {key.key_id: key.public for key in keys}[found["key"]]
        text = found["mark"]
        if not is_signed(public, text, found["signature"]):
            return None
        said: dict[str, Any] = json.loads(text)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return said
