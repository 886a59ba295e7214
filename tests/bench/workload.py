"""Seeded policies, tools and calls, limited to what the peer can express as well.

One strict layer that refuses by default, allow and deny on calls. Globs are lower case and tags
literal, since Cedar compares code points and has no patterns over the members of a set.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.values import Policy, Subject
from toolpolicy.engine.words import Category, Permission

SEED: Final = 20_261_130
TOOLS: Final = 1_000
FAMILIES: Final = 50
CALLS: Final = 200
VERBS: Final = ("get", "list", "read", "create", "update", "delete", "send", "search")
NOUNS: Final = ("issue", "file", "message", "event", "invoice", "page", "record", "branch")
TAGS: Final = ("prod", "beta", "finance", "internal", "chat", "code")
SCOPES: Final = ("config", "agent", "channel", "session")

Wire = dict[str, Any]


class Call(NamedTuple):
    """One question: a tool, and what the host says of the call."""

    tool: Subject
    context: dict[str, str]
    args: dict[str, str]


@dataclass(frozen=True, slots=True)
class Workload:
    """A policy as it is written and as it is read, the tools, and the calls about them."""

    document: Wire
    policy: Policy
    tools: tuple[Subject, ...]
    calls: tuple[Call, ...]

    @property
    def rules(self) -> list[Wire]:
        """The rules of the first layer, as written."""
        rules: list[Wire] = self.document["layers"][0]["policy"]["rules"]
        return rules


def workload(rules: int, *, layers: Sequence[str] = ("config",), calls: bool = True) -> Workload:
    """Return a workload of `rules` rules in each layer, one layer a scope named.

    Without `calls` the rules are for every surface and ask for no argument: a listing knows none.
    """
    chance = random.Random(SEED)  # noqa: S311  (the same workload in every run, no secret)
    tools = [_tool(chance, number) for number in range(TOOLS)]
    document = {
        "format": "toolpolicy/1",
        "layers": [_layer(scope, [_rule(chance, tools) for _ in range(rules)]) for scope in layers],
    }
    if not calls:
        _for_listings(document)
    asked = [_call(chance, tool) for tool in chance.sample(tools, CALLS)]
    return Workload(document, parse_policy(document), tuple(tools), tuple(asked))


def one_tool(rules: int) -> Workload:
    """Return a workload whose rules all ask for another value of an argument of the same tool."""
    chance = random.Random(SEED)  # noqa: S311  (as above)
    tool = _tool(chance, 0)
    asking = [
        {
            "effect": "deny",
            "match": {"name": tool.name, "arg": {"pointer": "/path", "value": f"/{number}/*"}},
        }
        for number in range(rules)
    ]
    document = {"format": "toolpolicy/1", "layers": [_layer("config", asking)]}
    paths = [{"path": f"/{chance.randrange(2 * rules)}/x"} for _ in range(CALLS)]
    calls = tuple(Call(tool, {}, args) for args in paths)
    return Workload(document, parse_policy(document), (tool,), calls)


def _for_listings(document: Wire) -> None:
    for layer in document["layers"]:
        for rule in layer["policy"]["rules"]:
            del rule["on"]
            rule["match"].pop("arg", None)


def _tool(chance: random.Random, number: int) -> Subject:
    verb, noun = chance.choice(VERBS), chance.choice(NOUNS)
    family = f"fam{number % FAMILIES}"
    return Subject(
        name=f"{family}.{verb}_{noun}_{number}",
        family=family,
        tags=tuple(chance.sample(TAGS, chance.randrange(3))),
        category=chance.choice(list(Category)),
        permission=chance.choice([None, *Permission]),
    )


def _layer(scope: str, rules: list[Wire]) -> Wire:
    target = {} if scope == "config" else {"target": ["*-1", "*-2", "*-3"]}
    return {
        "scope": scope,
        **target,
        "position": 0,
        "combining": "deny_overrides",
        "settings": {},
        "policy": {"name": scope, "default": "deny", "rules": rules},
    }


def _rule(chance: random.Random, tools: list[Subject]) -> Wire:
    tool = chance.choice(tools)
    rule: Wire = {"effect": chance.choice(("allow", "allow", "deny")), "on": ["call"]}
    match: Wire = _asked(chance, tool)
    if chance.random() < 0.08:
        match["permission_at_least"] = str(chance.choice(list(Permission)))
    if chance.random() < 0.08:
        match["arg"] = {"pointer": "/path", "value": f"/{chance.choice(NOUNS)}/*"}
    rule["match"] = match
    if chance.random() < 0.12:
        rule["except"] = _asked(chance, tool)
    if chance.random() < 0.10:
        rule["when"] = {"channel": f"{chance.choice(NOUNS)}-*"}
    return rule


def _asked(chance: random.Random, tool: Subject) -> Wire:
    """Return a matcher in the proportions that allowlists of real hosts have."""
    family, name = tool.family or "", tool.name
    share = chance.random()
    if share < 0.50:
        return {"name": name}
    if share < 0.72:
        return {"name": name[: chance.randrange(len(family) + 2, len(name))] + "*"}
    if share < 0.82:
        return {"name": f"{family}.*_{chance.randrange(TOOLS)}"}
    if share < 0.86:
        return {"name": f"*{chance.choice(VERBS)}_{chance.choice(NOUNS)}_{chance.randrange(10)}*"}
    return chance.choice(
        (
            {"family": family},
            {"tags": chance.choice(TAGS), "family": f"fam{chance.randrange(FAMILIES)}"},
            {"category": [str(chance.choice(list(Category)))], "name": f"{family}.*"},
        )
    )


def _call(chance: random.Random, tool: Subject) -> Call:
    context = {
        "agent": f"coder-{chance.randrange(1, 4)}",
        "channel": f"{chance.choice(NOUNS)}-{chance.randrange(1, 4)}",
        "session": f"s-{chance.randrange(1, 4)}",
    }
    return Call(tool, context, {"path": f"/{chance.choice(NOUNS)}/{chance.randrange(100)}"})
