"""Two sentences as one: only the words that differ are marked, and both can be read off it."""

from typing import Any

import pytest

from tests.growing import Choices, strict_rule
from tests.strategies import SEEDS, law
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.sentence_changes import Fate, changed_words, only_lists_differ
from toolpolicy.engine.sentences import Sentence, plain, sentence


def said(rule: dict[str, Any]) -> Sentence:
    entry = {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "settings": {},
        "policy": {"name": "l", "rules": [{"match": {}, **rule}]},
    }
    return sentence(parse_policy({"format": "toolpolicy/1", "layers": [entry]}).layers[0].rules[0])


def deny(**members: Any) -> dict[str, Any]:
    return {"effect": "deny", **members}


def marked(before: dict[str, Any], after: dict[str, Any]) -> str:
    signs = {Fate.KEPT: "{}", Fate.REMOVED: "[-{}-]", Fate.ADDED: "{{+{}+}}"}
    runs = changed_words(said(before).parts, said(after).parts)
    return "".join(signs[run.fate].format(plain(run.parts)) for run in runs)


def on_branches(*patterns: str) -> dict[str, Any]:
    return deny(match={"arg": {"pointer": "/branch", "value": list(patterns)}})


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (
            deny(match={"name": "a"}),
            deny(match={"name": ["a", "b"]}),
            "tools named `a`{+ or +}{+`b`+}",
        ),
        (
            deny(match={"name": "a"}, when={"agent": "x"}),
            deny(match={"name": "b"}),
            "tools named [-`a`-]{+`b`+}[-, when agent is `x`-]",
        ),
        (
            deny(on=["call"]),
            deny(on=["call", "search"]),
            "every tool, on {+search+}{+ and +}call",
        ),
        (
            deny(match={"name": "a", "family": "f"}),
            deny(match={"name": "a", "family": "f"}, on=["call"]),
            "tools named `a` of family `f`{+, on call+}",
        ),
    ],
)
def test_only_the_words_that_differ_are_marked(before, after, text):
    assert marked(before, after) == text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (
            ("main", "release/*"),
            ("main", "release/*", "hotfix/*", "unfinished"),
            "`main`[- or -]{+, +}`release/*`{+, +}{+`hotfix/*`+}{+ or +}{+`unfinished`+}",
        ),
        (("a", "b", "c"), ("b",), "[-`a`-][-, -]`b`[- or -][-`c`-]"),
        (("a", "b"), ("c", "b"), "[-`a`-]{+`c`+} or `b`"),
        ((), ("a",), "[-nothing-]{+`a`+}"),
    ],
)
def test_a_list_is_compared_by_its_elements(before, after, text):
    before, after = on_branches(*before), on_branches(*after)
    assert marked(before, after).removeprefix("tools where argument /branch is ") == text
    assert only_lists_differ(said(before), said(after))


@pytest.mark.parametrize(
    "after",
    [
        {"effect": "allow", "match": {"name": "a"}},
        deny(match={"name": "a"}, on=["call"]),
        deny(match={"family": "a"}),
    ],
)
def test_more_than_lists_differs_in_another_verb_or_other_words(after):
    assert not only_lists_differ(said(deny(match={"name": "a"})), said(after))


def test_a_sentence_knows_that_it_is_cut():
    names = [f"n{number}" for number in range(9)]
    assert said(deny(match={"name": names})).is_cut
    assert said(deny(match={"name": "n" * 200})).is_cut
    assert not said(deny(match={"name": names[:8]})).is_cut


@law(one=SEEDS, other=SEEDS)
def test_both_sentences_can_be_read_off_the_marked_one(one, other):
    before, after = (said(strict_rule(Choices(seed, stamina=4))).parts for seed in (one, other))
    runs = changed_words(before, after)
    for sides, parts in (((Fate.KEPT, Fate.REMOVED), before), ((Fate.KEPT, Fate.ADDED), after)):
        assert "".join(plain(run.parts) for run in runs if run.fate in sides) == plain(parts)
    assert all(run.fate is Fate.KEPT for run in changed_words(before, before))
