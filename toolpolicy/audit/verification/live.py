"""What the one row of the state makes live, held against the records of what was made live."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.db.models import F

from toolpolicy.audit.verification.findings import Kind
from toolpolicy.audit.verification.told import Difference, Told, member, told
from toolpolicy.models import Document, PolicyState, PolicyVersion, Record, ToolDeclaration
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet

_KINDS: Final = (RecordKind.CHANGE, RecordKind.PUBLISH, RecordKind.IMPORT)
_MEMBERS: Final = {"registry": "registry", "settings": "digests", "masking": "masking"}
"""Digests of the state, and the members of texts that say what they were before and after."""
_SETTINGS: Final = "settings"
_AT_ONCE: Final = 500
_MOST: Final = 1000
Named = dict[str, Told | None]
"""Digests of documents, each with a record that names it, or None."""


def differences() -> Iterator[Difference]:
    """Yield in what the state says something else than the records. Raise as Django does."""
    columns = {name: f"{name}_digest" for name in _MEMBERS}
    state = PolicyState.objects.filter(pk=1).values("live_id", *columns.values()).first() or {}
    digests = {name: str(state.get(column, "")) for name, column in columns.items()}
    yield from _of_version(state.get("live_id"))
    yield from _lost_versions()
    ends = {name: _End(name) for name in _MEMBERS}
    yield from _read(ends, digests)
    for name, end in ends.items():
        yield from end.compared(digests[name])
    yield from _lost_declarations(digests["registry"])


# --- the live version -----------------------------------------------------------------------------


def _publications() -> RecordQuerySet:
    return Record.objects.filter(kind__in=_KINDS, policy_version__isnull=False)


def _of_version(live: int | None) -> Iterator[Difference]:
    """Compare the live version with the newest that records tell of: numbers only ever rise."""
    rows = PolicyVersion.objects.filter(pk=live or 0)
    row = rows.values_list("number", "document_id").first()
    order = ("-policy_version", F("leaf__seq").desc(nulls_first=True), "-pk")
    newest = _publications().order_by(*order).values_list("kind", "pk").first()
    one = next(told(RecordKind(newest[0]), pk=newest[1]), None) if newest else None
    if one is None:
        return
    number, digest = row or (None, "")
    if number != one.version:
        words = f"version {number} is live" if row else "no version is live"
        kind = Kind.ALTERED if row else Kind.MISSING
        yield Difference(kind, words, f"version {one.version} is", one.seq)
        return
    said = member(one.text, "policy")
    if said is not None and said.get("digest") != digest:
        words = f"the live version {number} has the document `{digest}`"
        yield Difference(Kind.ALTERED, words, f"it has `{said.get('digest')}`", one.seq)


def _lost_versions() -> Iterator[Difference]:
    kept = PolicyVersion.objects.values("number")
    lost = _publications().exclude(policy_version__in=kept).order_by("policy_version", "pk")
    last = None
    for number, seq in lost.values_list("policy_version", "leaf__seq")[:_MOST]:
        if number != last:
            words = f"version {number} of the policy is gone"
            yield Difference(Kind.MISSING, words, "it was made live", seq)
        last = number


# --- the digests of the state ---------------------------------------------------------------------


def _read(ends: Mapping[str, "_End"], digests: Mapping[str, str]) -> Iterator[Difference]:
    """Read what became of each digest, and yield which of the documents are gone."""
    named: Named = dict.fromkeys(filter(None, digests.values()))
    gone: set[str] = set()
    for kind in (RecordKind.CHANGE, RecordKind.IMPORT):
        for one in told(kind, policy_version=None):
            for digest in [digest for end in ends.values() for digest in end.read(one)]:
                named[digest] = named.get(digest) or one.without_text()
            if len(named) >= _AT_ONCE:
                yield from _lost_documents(named, gone)
                named = {}
    yield from _lost_documents(named, gone)


def _lost_documents(named: Named, gone: set[str]) -> Iterator[Difference]:
    for digest in _lost(Document, set(named) - gone):
        gone.add(digest)
        words, by = f"the document `{digest}` is gone", named[digest]
        said = "it was in force" if by else ""
        yield Difference(Kind.MISSING, words, said, by.seq if by else None)


def _lost(model: type[Document | ToolDeclaration], named: set[str]) -> list[str]:
    rows = model._default_manager.filter(digest__in=named)  # noqa: SLF001  (Django's own)
    return sorted(named - set(rows.values_list("digest", flat=True)))


class _End:
    """What the records say that a digest of the state became last."""

    __slots__ = ("_lost", "_name", "_newest")

    def __init__(self, name: str) -> None:
        self._name = name
        self._newest: list[tuple[tuple[float, int], int | None, Mapping[str, Any]]] = []
        self._lost: tuple[float, int] = (0, 0)

    def read(self, one: Told) -> list[str]:
        """Take in what a record says; return the digest that it names, if it does."""
        said = member(one.text, _MEMBERS[self._name])
        if one.text is None:
            # Records of settings alone have this label, and families may have it too.
            if self._name != _SETTINGS or one.label == _SETTINGS:
                self._lost = max(self._lost, one.place)
        elif said is not None and {"before", "after"} <= said.keys():
            newest = [*self._newest, (one.place, one.seq, said)]
            self._newest = sorted(newest, key=lambda item: item[0])[-2:]
            return [str(said["after"])] if said["after"] else []
        return []

    def compared(self, digest: str) -> Iterator[Difference]:
        """Yield the difference to what the state says, if there is one."""
        if not self._newest:
            return
        place, seq, said = self._newest[-1]
        first = self._newest[0]
        if said["after"] == first[2]["before"] and said["before"] != first[2]["after"]:
            # The later of two was sealed first: a block may pass over what commits meanwhile.
            place, seq, said = first
        if self._lost < place and said["after"] != digest:
            words = f"the state names {f'`{digest}`' if digest else 'nothing'} as its {self._name}"
            kind = Kind.ALTERED if digest else Kind.MISSING
            yield Difference(kind, words, f"it became `{said['after']}`", seq)


def _lost_declarations(registry: str) -> Iterator[Difference]:
    text = Document.objects.filter(digest=registry).values_list("text", flat=True).first()
    try:
        named = sorted({str(tool["declaration"]) for tool in json.loads(text or "")["tools"]})
    except (ValueError, TypeError, KeyError, RecursionError):
        return  # gone or altered, which is told of the document
    for start in range(0, len(named), _AT_ONCE):
        for digest in _lost(ToolDeclaration, set(named[start : start + _AT_ONCE])):
            words = f"the declaration `{digest}` is gone, which the registry in force names"
            yield Difference(Kind.MISSING, words)
