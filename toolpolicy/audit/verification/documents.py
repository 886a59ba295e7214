"""What answers were judged by: policies, registries, declarations, each under its digest.

The log names them by digest, so a changed text is no longer what any record speaks of.
"""

import hashlib
from collections.abc import Iterator
from typing import Final

from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.models import Document, PolicyVersion, ToolDeclaration

# Texts of registries can be large.
_AT_ONCE: Final = 50


def check(verdict: Verdict) -> None:
    """Hash every stored text, and see that each version has one. Raise Unreadable by Django."""
    for what, digest, text in _stored():
        if digest != "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest():
            verdict.find(Kind.ALTERED, f"the {what} `{digest}` is not what its digest says")
    kept = Document.objects.values("digest")
    lost = PolicyVersion.objects.exclude(document_id__in=kept).order_by("number")
    for number in lost.values_list("number", flat=True):
        verdict.find(Kind.MISSING, f"the document of version {number} of the policy is gone")


def _stored() -> Iterator[tuple[str, str, str]]:
    for what, model in (("document", Document), ("declaration", ToolDeclaration)):
        rows = model.objects.order_by("digest").values_list("digest", "text")
        for digest, text in rows.iterator(chunk_size=_AT_ONCE):
            yield what, str(digest), str(text)
