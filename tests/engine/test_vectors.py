"""Every published vector, and every one of ours, judged by the shipped engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.vectors import check
from toolpolicy.engine import conformance

VECTORS = Path(check.HERE)
# rules_quirks only informs: it records what a lenient decoder lets through.
KINDS = (
    *("glob", "rules", "rules_serialize", "rules_allow_deny", "matchitems", "ordered", "modes"),
    *("stack", "listing", "unfold", "rejected"),
)


def cases(kind: str) -> list[dict[str, Any]]:
    # Not splitlines(): texts hold U+2028 and U+0085.
    lines = (VECTORS / f"{kind}.jsonl").read_text(encoding="utf-8").strip("\n").split("\n")
    return [json.loads(line, parse_int=check.parse_int) for line in lines]


@pytest.mark.parametrize("kind", KINDS)
def test_every_vector_of_a_kind_holds(kind):
    judge = getattr(conformance, kind)
    wrong = {}
    for case in cases(kind):
        try:
            got = judge(case["input"])
        except Exception as refused:  # noqa: BLE001  (any refusal counts as one, as check.py reads it)
            got = {"error": f"{type(refused).__name__}: {refused}"}
        why = check.judge(kind, case["expect"], got, strict=True)
        if why:
            wrong[case["id"]] = why
    assert not wrong


def test_the_folder_holds_no_kind_that_is_not_judged():
    found = {path.stem for path in VECTORS.glob("*.jsonl")}
    assert found == {*KINDS, "rules_quirks"}
