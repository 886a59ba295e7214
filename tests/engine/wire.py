"""Policy documents of one layer in wire form, and the pointers to its parts."""

from toolpolicy.engine.documents import FORMAT

AT = "/layers/0"
POLICY = f"{AT}/policy"
RULE = f"{POLICY}/rules/0"
SETTINGS = f"{AT}/settings"
MATCH = f"{RULE}/match"


def document(*layers):
    return {"format": FORMAT, "layers": list(layers)}


def strict(*rules, name="n", **rest):
    policy = {"name": name, **rest.pop("policy", {}), "rules": list(rules)}
    return {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "policy": policy,
        **rest,
    }


def ordered(*rules, **rest):
    return strict(*rules, **rest) | {"combining": "last_match"}


def matching(**match):
    return strict({"effect": "deny", "match": match})


def selecting(**match):
    return ordered({"match": match, "mode": "on"})


def set_to(**settings):
    return strict(settings=settings)


def rule_set_to(**settings):
    return strict({"effect": "deny", "id": "r"}, settings={"rules": {"r": settings}})
