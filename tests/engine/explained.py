"""A decision under a few layers in wire form, with its explanation."""

from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.explanation import explain
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Approval, Surface

ORDERED = {"combining": "last_match", "name": "list"}


def layer(*rules, name="base", scope="config", combining="deny_overrides", **rest):
    policy = {"name": name, "rules": list(rules), **rest.pop("policy", {})}
    return {"scope": scope, "position": 0, "combining": combining, "policy": policy, **rest}


def told(layers, subject, args=ABSENT, *, surface="call", context=None, floor=Approval.DEFAULT):
    policy = parse_policy({"format": FORMAT, "layers": layers})
    judged = [Judged(parse_subject(subject), args, floor)]
    decision = judge(policy, judged, context or {}, Surface(surface), None)
    return explain(policy, judged, context or {}, decision, now=None)


def rules_of(explanation):
    [subject] = explanation["subjects"]
    return [rule for entry in subject["layers"] for rule in entry.get("rules", [])]
