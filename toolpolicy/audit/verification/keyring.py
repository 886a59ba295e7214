"""The keys of a log judged: which one is which, and what was done to those that are not."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from toolpolicy.audit.keys import is_introduced, true_name
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.models import Record, SealKey
from toolpolicy.models.choices import RecordKind

_FROM: Final = re.compile(r'"from":"([0-9a-f]{16})"')


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done to a key. `names` are those that blocks may know it by."""

    kind: Kind
    message: str
    names: frozenset[str]


@dataclass(slots=True)
class Keyring:
    """The keys by their names, with their place in the chain, and the faults not yet told."""

    chain: Sequence[SealKey]
    faults: list[Fault]
    _told: set[str] = field(default_factory=set)

    def find(self, name: str) -> tuple[int, str] | None:
        """Return the place and the public key of the key of that name, if there is one."""
        for place, key in enumerate(self.chain):
            if key.key_id == name == true_name(key):
                return place, key.public
        return None

    def is_faulty(self, name: str, verdict: Verdict, **place: int | None) -> bool:
        """Tell whether a fault explains why a block's key is no good; say so at the first one."""
        mine = next((fault for fault in self.faults if name in fault.names), None)
        if mine is None and name in self._told:
            return True
        if mine is None and self.find(name) is None:
            mine = _lost(name)
        if mine is None:
            return False
        verdict.find(mine.kind, mine.message, **place)
        self._told |= mine.names
        self.faults = [fault for fault in self.faults if fault is not mine]
        return True

    def tell(self, verdict: Verdict) -> None:
        """Say the faults that no block brought up."""
        for fault in self.faults:
            verdict.find(fault.kind, fault.message)


def keyring(log: str, chain: Sequence[SealKey]) -> Keyring:
    """Judge a chain of keys, sorted by position."""
    single = list({key.key_id: key for key in chain}.values())
    order = _linked(log, single)
    judged = _misplaced(order) if len(order) == len(single) else _unlinked(log, single)
    return Keyring(chain=order or single, faults=[*_doubles(chain), *judged])


def _doubles(chain: Sequence[SealKey]) -> Iterator[Fault]:
    for name, times in Counter(key.key_id for key in chain).items():
        if times > 1:
            yield Fault(Kind.DUPLICATED, f"key {name} is there twice", frozenset({name}))


def _linked(log: str, keys: Sequence[SealKey]) -> list[SealKey]:
    """Return keys in the order in which each vouches for the next, as far as it goes."""
    order: list[SealKey] = []
    rest = [key for key in keys if true_name(key) == key.key_id]
    while rest:
        before = order[-1] if order else None
        following = next((key for key in rest if is_introduced(log, before, key)), None)
        if following is None:
            break
        order.append(following)
        rest.remove(following)
    return order


def _misplaced(order: Sequence[SealKey]) -> Iterator[Fault]:
    """Judge the positions of keys of which each vouches for the next."""
    for place, key in enumerate(order, start=1):
        if key.position != place:
            moved = key.position in range(1, len(order) + 1)
            message = f"key {key.key_id} stands in place {key.position}, not {place}"
            kind = Kind.REORDERED if moved else Kind.ALTERED
            yield Fault(kind, message, frozenset({key.key_id}))


def _unlinked(log: str, chain: Sequence[SealKey]) -> Iterator[Fault]:
    before: SealKey | None = None
    for place, key in enumerate(chain, start=1):
        if true_name(key) != key.key_id or not is_introduced(log, before, key):
            kind, message = _fault(before, key, place)
            lost = {_introducer(key)} if kind == Kind.MISSING else set()
            yield Fault(kind, message, frozenset({key.key_id, true_name(key), *lost}))
        before = key


def _fault(before: SealKey | None, key: SealKey, place: int) -> tuple[Kind, str]:
    if true_name(key) != key.key_id:
        return Kind.ALTERED, f"key {key.key_id} is not the key of that name"
    if (key.position or 0) > place:
        return Kind.MISSING, f"key {place} of the log is missing"
    if before is not None and not _rotation_to(key.key_id):
        return Kind.INSERTED, f"key {key.key_id} is introduced by no key of the log"
    return Kind.ALTERED, f"key {key.key_id} is not introduced by the key before it"


def _introducer(key: SealKey) -> str:
    """Return the name of the key that its statement is by; empty when it says none."""
    found = _FROM.search(str(key.statement))
    return found[1] if found else ""


def _rotation_to(name: str) -> bool:
    """Tell whether the log holds a record of a rotation to that key."""
    told = Record.objects.filter(kind=RecordKind.ROTATION, object_label__contains=name)
    return told.exists()


def _lost(name: str) -> Fault | None:
    """Return the fault of a key that is not there, though the log holds its introduction."""
    if not _rotation_to(name):
        return None
    return Fault(Kind.MISSING, f"key {name} of the log is missing", frozenset({name}))
