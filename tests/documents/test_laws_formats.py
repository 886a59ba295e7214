"""Laws of other people's forms: they mean what they meant, and nothing breaks the reader."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.growing import MODES, STRICT, Choices, documents, subject
from tests.strategies import SEEDS, json_value, law, several
from toolpolicy.engine import pointers
from toolpolicy.engine.documents import parse_layers
from toolpolicy.engine.evaluate import compile_policy, evaluate
from toolpolicy.engine.faults import Faults, token
from toolpolicy.engine.formats import read_any
from toolpolicy.engine.ordered import resolve_ordered
from toolpolicy.engine.ordered_wire import parse_mode
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import OrderedLayer
from toolpolicy.engine.words import Mode

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


def cases(kind):
    lines = (VECTORS / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_or_refused(document):
    try:
        return read_any(document)
    except Faults as refused:
        return refused.faults


# --- the published examples -----------------------------------------------------------------------


def test_published_layers_are_read_with_the_very_rules_that_they_had():
    tried = 0
    for case in cases("rules"):
        document = case["input"]["set"]
        if case["expect"].get("error") or not isinstance(document, list):
            continue
        names = [layer["name"] for layer in document if layer.get("name")]
        if len(set(names)) < len(names):
            continue
        try:
            read = read_any(document).policy.layers
        except Faults as refused:  # ids that stand twice, which the product does not take
            codes = {fault.code for fault in refused.faults}
            assert codes == {"duplicate"}, document
            continue
        published = parse_layers(document)
        assert [layer.rules for layer in read] == [layer.rules for layer in published]
        assert all(layer.settings.may_waive_approval for layer in read)
        assert not any(layer.settings.fail_safe for layer in read)
        tried += 1
    assert tried > 1000


def test_published_ordered_rules_are_read_or_refused_as_published():
    tried = 0
    for case in cases("ordered"):
        rules = case["input"]["rules"]
        if not rules or case["expect"].get("reason") == "bad_default":
            continue
        read = read_or_refused({"toolPolicy": rules})
        assert isinstance(read, tuple) is bool(case["expect"].get("error")), case["id"]
        tried += 1
    assert tried > 100


# --- laws -----------------------------------------------------------------------------------------


@law(written=several(documents), tools=several(subject))
def test_bare_layers_decide_as_the_published_list_does(written, tools):
    for document, tool in zip(written, tools, strict=True):
        bare = [entry["policy"] for entry in document["layers"] if entry["combining"] == STRICT]
        asked = parse_subject(tool)
        one = evaluate(read_any(bare).policy, asked, {}, "call", {"p": "a"})
        other = evaluate(compile_policy(parse_layers(bare)), asked, {}, "call", {"p": "a"})
        assert (one.visible, one.callable, one.approval) == (
            other.visible, other.callable, other.approval,
        )  # fmt: skip


@law(seeds=st.lists(SEEDS, min_size=4, max_size=4))
def test_a_preference_for_a_name_beats_its_group_and_the_policy_beats_both(seeds):
    for seed in seeds:
        choices = Choices(seed, stamina=8)
        pool = ("mail", "send", "x")
        preferences = {choices.pick(pool): choices.pick(MODES) for _ in range(choices.number(4))}
        own = [{"match": {"name": "send"}, "mode": "ask"}] if choices.maybe(0.3) else []
        layer = read_any({"toolPreferences": preferences, "toolPolicy": own}).policy.layers[0]
        tool = parse_subject({"name": "send", "group": "mail"})
        assert isinstance(layer, OrderedLayer)
        said = [preferences.get("mail"), preferences.get("send"), *(["ask"] if own else [])]
        modes = [parse_mode(word) for word in said if word is not None]
        expected = [mode for mode in modes if mode != "auto"]
        decided = resolve_ordered(layer.rules, tool, Mode.ON)
        assert str(decided.mode) == str(expected[-1] if expected else "on")


def places(value, at=()):
    """Yield the path of every value inside a document."""
    yield at
    inside = value if isinstance(value, dict | list) else ()
    for name, item in inside.items() if isinstance(inside, dict) else enumerate(inside):
        yield from places(item, (*at, name))


def broken(document, number):
    """Return a document with one value in it replaced, renamed or taken away."""
    source = random.Random(number)  # noqa: S311  (test data)
    whole = {"document": copy.deepcopy(document)}
    path = source.choice([path for path in places(whole) if path])
    around: Any = whole
    for name in path[:-1]:
        around = around[name]
    if source.random() < 0.3 and isinstance(around, dict) and len(path) > 1:
        around[f"{path[-1]}x"] = around.pop(path[-1])
    else:
        around[path[-1]] = json_value(Choices(number, stamina=6))
    return whole["document"]


@law(written=several(documents), number=SEEDS)
def test_whatever_breaks_is_read_or_refused_with_pointers_that_lead_somewhere(written, number):
    for document in written:
        rules = [rule for entry in document["layers"] for rule in entry["policy"]["rules"]]
        for whole in (document, [entry["policy"] for entry in document["layers"]], rules,
                      {"toolPolicy": rules, "toolPreferences": {"a": "on"}}):  # fmt: skip
            given = broken(whole, number)
            read = read_or_refused(given)
            for fault in read if isinstance(read, tuple) else ():
                parent = fault.pointer.rpartition("/")[0]
                found = pointers.resolve(fault.pointer, given), pointers.resolve(parent, given)
                assert any(isinstance(place, pointers.Found) for place in found), fault


@law(values=several(json_value))
def test_any_json_is_read_or_refused(values):
    for value in values:
        read_or_refused(value)


@pytest.mark.parametrize("name", ["a/b", "~", "é", "\U0001f600"])
def test_pointers_are_escaped(name):
    assert read_or_refused([{name: 1}])[0].pointer == f"/0/{token(name)}"
