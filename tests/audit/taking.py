"""Exports of a small log, and what the verifier says of them in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.db import transaction

from tests.factories import SYSTEM
from toolpolicy import audit
from toolpolicy.audit import sealer, writer
from toolpolicy.audit.verification.deletions import KEPT
from toolpolicy.models import Leaf, RecordBody
from toolpolicy.services._deletion import Row, spans
from toolpolicy.services.evidence.exports import Asked, Form, begin
from toolpolicy.services.record_filters import parse

VERIFIER = Path(audit.__path__[0]) / "verify_bundle.py"


def asked(form: Form = Form.BUNDLE, *, complete: bool = False, **members: Any) -> Asked:
    """Return what to take; `from` is given as `from_`."""
    wanted = {name.rstrip("_"): value for name, value in members.items()}
    return Asked(wanted=parse(wanted), form=form, complete=complete)


def taken(form: Form = Form.BUNDLE, *, complete: bool = False, **members: Any) -> bytes:
    """Return the bytes of an export, read to its end."""
    what = asked(form, complete=complete, **members)
    return b"".join(begin(actor=SYSTEM, asked=what))


def lines_of(bundle: bytes, type_: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in bundle.splitlines()]
    return [line for line in found if line["type"] == type_]


def records_of(bundle: bytes) -> list[int]:
    return [line["seq"] for line in lines_of(bundle, "record")]


def judged(bundle: bytes | Path, *words: str) -> dict[str, Any]:
    """Return the verdict on a bundle, from a Python that knows nothing of the product."""
    given, name = (bundle, "-") if isinstance(bundle, bytes) else (b"", str(bundle))
    ended = subprocess.run(
        [sys.executable, "-I", "-S", VERIFIER, name, "--json", *words],
        capture_output=True,
        check=False,
        timeout=120,
        input=given,
    )
    assert ended.stderr == b""
    found: dict[str, Any] = json.loads(ended.stdout)
    assert found["exit"] == ended.returncode
    return found


def prune(first: int, last: int) -> None:
    """Delete the texts of a span of sealed records, as a request does, and seal that."""
    found = Leaf.objects.filter(seq__range=(first, last)).exclude(record__kind__in=KEPT)
    rows = [Row(pk=row, seq=seq, columns=()) for seq, row in found.values_list("seq", "record")]
    with transaction.atomic():
        RecordBody.objects.filter(pk__in=[row.pk for row in rows]).delete()
        writer.write(kind="prune", body={"bodies": spans(rows)})
    sealer.seal_all()
