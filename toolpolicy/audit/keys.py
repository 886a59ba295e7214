"""The chain of keys of a log: each is vouched for by the one before it."""

from collections.abc import Sequence
from typing import Final

from django.utils import timezone

from toolpolicy.audit.headers import moment
from toolpolicy.audit.signing import VARIABLE, SealRefused, Signer, is_signed, key_id
from toolpolicy.engine.canonical import dumps
from toolpolicy.models import SealKey

FORM: Final = 1


def chain() -> list[SealKey]:
    """Return the keys of the log, oldest first. One query."""
    return list(SealKey.objects.order_by("position"))


def statement(log: str, old: Signer, new: Signer) -> str:
    """Return what the old key signs of the new one, in canonical form."""
    own = {"from": old.key_id, "to": new.key_id, "public": new.public}
    return dumps({"v": FORM, "log": log, "at": moment(timezone.now()), **own})


def faults(log: str, keys: Sequence[SealKey]) -> list[str]:
    """Return what is wrong with a chain of keys, in words; nothing when it holds."""
    found = []
    for number, key in enumerate(keys, start=1):
        before = keys[number - 2] if number > 1 else None
        if key.position != number:
            found.append(f"key {number} of the log is missing")
        elif true_name(key) != key.key_id:
            found.append(f"key {key.key_id} is not the key of that name")
        elif not is_introduced(log, before, key):
            found.append(f"key {key.key_id} is not introduced by the key before it")
    return found


def true_name(key: SealKey) -> str:
    """Return the name that follows from the public key itself; empty when it is none."""
    try:
        return key_id(key.public)
    except (ValueError, TypeError):
        return ""


def is_introduced(log: str, before: SealKey | None, key: SealKey) -> bool:
    """Tell whether the key before vouches for this one; the first key needs nobody."""
    if before is None:
        return key.statement == key.signature == ""
    said = (f'"log":"{log}"', f'"from":"{before.key_id}"', f'"to":"{key.key_id}"')
    whole = key.statement and all(
        part in key.statement for part in (*said, f'"public":"{key.public}"')
    )
    return bool(whole) and is_signed(before.public, key.statement, key.signature)


def adopt(signer: Signer) -> None:
    """Make a key the first of a log that has none."""
    SealKey.objects.create(key_id=signer.key_id, position=1, public=signer.public)


def check_current(signer: Signer, keys: Sequence[SealKey]) -> None:
    """Raise SealRefused when a key is not the one that seals now."""
    newest = keys[-1].key_id
    if signer.key_id == newest:
        return
    if any(key.key_id == signer.key_id for key in keys):
        advice = f"key {signer.key_id} was followed by {newest}: set {VARIABLE} to the new one"
    else:
        advice = (
            f"{VARIABLE} is the key {signer.key_id}, but the log is sealed with {newest}: set that "
            "one, and change keys with `manage.py audit rotate`"
        )
    raise SealRefused(advice)
