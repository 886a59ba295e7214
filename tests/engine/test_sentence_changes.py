"""Two sentences as one: only the words that differ are marked, and both can be read off it."""

from typing import Any

import pytest

from tests.strategies import SEEDS, Choices, law, strict_rule
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.sentence_changes import Fate, changed_words, written
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


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (
            deny(match={"name": "a"}),
            deny(match={"name": ["a", "b"]}),
            "Deny tools named `a`{+ or `b`+}",
        ),
        (
            deny(match={"name": "a"}, when={"agent": "x"}),
            deny(match={"name": "b"}),
            "Deny tools named [-`a`, when agent is `x`-]{+`b`+}",
        ),
        (
            deny(match={"name": "a"}),
            {"effect": "require_approval", "match": {"name": "a"}},
            "[-Deny-] {+Require approval for+} tools named `a`",
        ),
        (deny(on=["call"]), deny(on=["call", "search"]), "Deny every tool, on {+search and +}call"),
    ],
)
def test_only_the_words_that_differ_are_marked(before, after, text):
    assert written(said(before), said(after)) == text


@law(one=SEEDS, other=SEEDS)
def test_both_sentences_can_be_read_off_the_marked_one(one, other):
    before, after = (said(strict_rule(Choices(seed, stamina=4))).parts for seed in (one, other))
    runs = changed_words(before, after)
    for sides, parts in (((Fate.KEPT, Fate.REMOVED), before), ((Fate.KEPT, Fate.ADDED), after)):
        assert "".join(plain(run.parts) for run in runs if run.fate in sides) == plain(parts)
    assert all(run.fate is Fate.KEPT for run in changed_words(before, before))
