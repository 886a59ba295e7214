"""A rule's words: each case is a rule in its wire form and the sentence it makes."""

import pytest

from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.sentences import LONGEST_ITEM, MOST_ITEMS, Part, PartKind, sentence
from toolpolicy.engine.values import OneOf, Rule, TextIs
from toolpolicy.engine.words import Effect, Hint, Mode


def strict(*, settings=None, **members):
    return parsed("deny_overrides", {"effect": "deny", **members}, settings)


def ordered(*, settings=None, **members):
    return parsed("last_match", {"mode": "on", **members}, settings)


def parsed(combining, rule, settings):
    layer = {
        "scope": "config",
        "position": 0,
        "combining": combining,
        "settings": {"rules": {"r": settings or {}}},
        "policy": {"name": "l", "rules": [{"id": "r", **rule}]},
    }
    policy = parse_policy({"format": "toolpolicy/1", "layers": [layer]})
    return policy.layers[0].rules[0]


def test_a_whole_strict_rule_reads_from_effect_to_context():
    rule = strict(
        match={"name": "mcp_*", "arg": {"pointer": "/path", "value": ["/etc/*", "/srv/*"]}},
        **{"except": {"family": "github", "tags": ["safe", "read"]}},
        on=["call"],
        when={"channel": "telegram*", "agent": ["a", "b"]},
    )
    assert str(sentence(rule)) == (
        "Deny tools named `mcp_*` where argument /path is `/etc/*` or `/srv/*`, except those of "
        "family `github` tagged `safe` or `read`, on call, when agent is `a` or `b` and channel is "
        "`telegram*`"
    )


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ({}, "every tool"),
        ({"name": ["a", "b", "c"]}, "tools named `a`, `b` or `c`"),
        ({"name": []}, "tools named nothing"),
        ({"category": ["system", "skill"]}, "tools of category system or skill"),
        ({"exposure": ["hidden"]}, "tools with exposure hidden"),
        ({"permission_at_least": "Write"}, "tools with permission Write or higher"),
        ({"permission_at_most": "ReadOnly"}, "tools with permission ReadOnly or lower"),
        (
            {"side_effects": ["writes_files", "payment"]},
            "tools with side effect writes files or payment",
        ),
        (
            {"group": "g", "parent": "p", "verb": "v", "method": "m", "scope": "s"},
            "tools in group `g` with parent `p` with verb `v` with method `m` with scope `s`",
        ),
        (
            {"hints": {"destructive": True, "idempotent": False}, "name": "x"},
            "tools named `x` that say they are destructive and may not be repeated",
        ),
        ({"arg": {"pointer": "", "value": "x"}}, "tools where argument (all of them) is `x`"),
    ],
)
def test_each_field_of_a_strict_match_has_its_words(match, words):
    assert str(sentence(strict(match=match))) == f"Deny {words}"


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ({"name": "*"}, "tools named `*`"),
        ({"verb": "list, get"}, "tools with verb `list` or `get`"),
        ({"name": ["slack_*", "!*_delete"]}, "tools named `slack_*` but not `*_delete`"),
        ({"group": "!crm,!erp"}, "tools in group anything but not `crm` or `erp`"),
        ({"name": ","}, "tools named nothing"),
        (
            {"family": "github", "readOnly": True},
            "tools of family `github` that say they only read",
        ),
    ],
)
def test_each_selector_of_an_ordered_match_has_its_words(match, words):
    assert str(sentence(ordered(match=match))) == f"Switch on {words}"


def test_two_arguments_are_joined():
    # The wire form takes one argument condition a match; the values take more.
    base = strict(match={"arg": {"pointer": "/a", "value": "1"}})
    rule = Rule(effect=Effect.ALLOW, match=base.match * 2)
    assert str(sentence(rule)) == "Allow tools where argument /a is `1` and argument /a is `1`"


@pytest.mark.parametrize("effect", Effect)
def test_every_effect_has_a_verb(effect):
    said = sentence(strict(effect=str(effect)))
    assert (said.effect, str(said)) == (effect, f"{said.verb} every tool")


@pytest.mark.parametrize("mode", Mode)
def test_every_mode_has_a_verb(mode):
    said = sentence(ordered(mode=str(mode), match={"name": "x"}))
    assert (said.effect, str(said)) == (mode, f"{said.verb} tools named `x`")


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("hint", Hint)
def test_every_hint_is_said_in_its_own_words(hint, value):
    one = str(sentence(strict(match={"hints": {str(hint): value}})))
    other = str(sentence(strict(match={"hints": {str(hint): not value}})))
    assert one.startswith("Deny tools that say they ")
    assert one != other


def test_an_observing_rule_says_what_it_would_do():
    rule = strict(effect="require_approval", settings={"observe": True})
    assert str(sentence(rule)) == "Would require approval for every tool"


def test_naming_all_surfaces_is_the_same_as_naming_none():
    assert str(sentence(strict(on=["call", "search", "catalog"]))) == "Deny every tool"
    assert (
        str(sentence(strict(on=["search", "catalog"]))) == "Deny every tool, on catalog and search"
    )


def test_an_exception_without_fields_carves_out_everything():
    assert str(sentence(strict(**{"except": {}}))) == "Deny every tool, except every tool"


def test_a_long_list_is_cut_and_says_how_much_more_there_is():
    names = [f"n{number}" for number in range(MOST_ITEMS + 5)]
    text = str(sentence(strict(match={"name": names})))
    assert text.endswith(f", `n{MOST_ITEMS - 2}` or 6 more")
    whole = str(sentence(strict(match={"name": names[:MOST_ITEMS]})))
    assert whole.endswith(f" or `n{MOST_ITEMS - 1}`")


def test_a_long_pattern_is_cut():
    text = str(sentence(strict(match={"name": "x" * 500})))
    assert text == f"Deny tools named `{'x' * (LONGEST_ITEM - 1)}…`"


def test_what_cannot_be_printed_is_escaped():
    rule = strict(match={"name": "a\u202eb"}, when={"k\n": "v"})
    assert str(sentence(rule)) == "Deny tools named `a\\u202eb`, when k\\n is `v`"


def test_parts_tell_patterns_from_keys_and_plain_words():
    rule = Rule(effect=Effect.DENY, match=(TextIs("name", ("x",)), OneOf("category", ("skill",))))
    assert sentence(rule).parts == (
        Part(PartKind.TEXT, "tools"),
        Part(PartKind.TEXT, " named "),
        Part(PartKind.CODE, "x"),
        Part(PartKind.TEXT, " of category "),
        Part(PartKind.KEY, "skill"),
    )
