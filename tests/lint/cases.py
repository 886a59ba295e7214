"""The cases of `tests/cases/lint.json`, made live or put to the engine.

Each is `{"case": sentence, "layers": [layer …], "tools": [subject …], "privilege"?: of each tool,
"seen"?: {key: values}, "expect": [[code, layer, rule] …], "witness"?: members of the first
finding's, "message"?: its message, "but"?: codes that are left out of the comparison}`. A moment is
written `in N days`.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from tests import cases
from tests.live import make_live, register
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.lint.findings import Finding
from toolpolicy.engine.lint.known import Question, Seen
from toolpolicy.engine.privilege import parse_privilege
from toolpolicy.engine.registry import Entry, Registry, ToolState
from toolpolicy.engine.subjects import RESERVED_CONTEXT, parse_subject
from toolpolicy.models import SeenContext

Case = dict[str, Any]
CASES = cases.load("lint")
ALWAYS = {"agent", "channel", "session", *RESERVED_CONTEXT}


def layers_of(case: Case, now: datetime) -> list[dict[str, Any]]:
    """Return the layers as entries of a policy document."""

    def moment(found: re.Match[str]) -> str:
        return (now + timedelta(days=int(found[1]))).isoformat()

    layers = json.loads(re.sub(r"in (-?\d+) days", moment, json.dumps(case["layers"])))
    return [entry_of(layer, place) for place, layer in enumerate(layers)]


def entry_of(layer: dict[str, Any], place: int) -> dict[str, Any]:
    """Return a layer as an entry: a strict one of scope config unless it says otherwise."""
    ordered = layer.get("combining") == "last_match"
    policy = {"name": layer.pop("name", "base"), "rules": layer.pop("rules")}
    if not ordered:
        policy["default"] = layer.pop("default", "allow")
    plain = {"scope": "config", "combining": "deny_overrides", "position": place}
    return {**plain, **layer, "policy": policy}


def question_of(case: Case, now: datetime) -> Question:
    """Return a case as the engine is asked."""
    privilege = parse_privilege(case["privilege"]) if "privilege" in case else ()
    entries = [
        Entry(
            subject=parse_subject({**tool, "family": "kit"}),
            family="kit",
            state=ToolState.ACTIVE,
            declaration="",
            privilege=privilege,
        )
        for tool in case["tools"]
    ]
    seen = Seen()
    if "seen" in case:
        sent = {"agent": [], "channel": [], **case["seen"]}
        values = {key: tuple(sent[key]) for key in ("agent", "channel")}
        seen = Seen(keys=frozenset(ALWAYS | sent.keys()), values=tuple(values.items()))
    policy = parse_policy({"format": FORMAT, "layers": layers_of(case, now)})
    return Question(policy=policy, registry=Registry(entries), now=now, seen=seen)


def put_live(case: Case) -> None:
    """Make a case what is live."""
    laid = {"privilege": case["privilege"]} if "privilege" in case else {}
    register("kit", *case["tools"], **laid)
    for key, values in case.get("seen", {}).items():
        SeenContext.objects.bulk_create(SeenContext(key=key, value=value) for value in values)
    make_live(layers_of(case, timezone.now()))


def told(found: Iterable[Finding], case: Case) -> list[list[str | None]]:
    """Return findings as cases expect them, without those about layers that set-up installs."""
    left_out = {"baseline_changed", *case.get("but", ())}
    kept = [one for one in found if str(one.code) not in left_out]
    return sorted_all([str(one.code), one.layer, one.rule] for one in kept)


def expected(case: Case) -> list[list[str | None]]:
    """Return what a case expects, in the order of `told`."""
    return sorted_all(one for one in case["expect"] if one[0] not in case.get("but", ()))


def sorted_all(some: Iterable[list[str | None]]) -> list[list[str | None]]:
    return sorted(some, key=lambda one: [text or "" for text in one])
