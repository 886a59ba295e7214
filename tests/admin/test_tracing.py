"""The trace of an answer: one decider, actual values, what is folded, and the same as text."""

import pytest

from tests.admin.pages import decide
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.admin.records.detail import RecordView
from toolpolicy.models import Layer, Record
from toolpolicy.services import freezes, policies
from toolpolicy.services.payloads import payload_of

pytestmark = pytest.mark.django_db


def answered(name: str, **members):
    record = Record.objects.get(uid=decide(name, **members).decision_id)
    return RecordView(record, payload_of(record)).answered


def steps_of(answer):
    """Return every step with its layer's verdict, folded ones too."""
    found = []
    for subject in answer.subjects:
        for layer in subject.layers:
            found += layer.steps
            found += [step for fold in layer.folds for step in fold.steps]
        found += [subject.end] if subject.end else []
    return found


def verdicts(answer):
    return [layer.verdict.word for layer in answer.subjects[0].layers]


def words(parts):
    return "".join(map(str, parts))


def denying(**values):
    make_rule(make_layer(**values), id="no", match={"name": "drop"}, when={"agent": "coder"})


def switching(mode):
    layer = make_layer("modes", combining="last_match")
    make_rule(layer, effect=mode, match={"name": "drop"})


CASES = {
    "a rule": denying,
    "a layer's default": lambda: make_layer(default="deny"),
    "an ordered rule": lambda: switching("off"),
    "what nothing speaks about": make_layer,
    "an approval that a rule asks for": lambda: switching("ask"),
    "a rule that opens a layer": lambda: make_rule(make_layer(default="deny"), effect="allow"),
    "a freeze": lambda: freezes.freeze(
        actor=SYSTEM, values={"kind": "tool", "value": "drop", "reason": "a loop"}
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_exactly_one_step_decides(case):
    CASES[case]()
    if not Layer.objects.exists():
        make_layer()
    answer = answered("drop", context={"agent": "coder"})
    assert [step.decides for step in steps_of(answer)].count(True) == 1
    assert answer.as_text.count("ecides]") == 1


def test_what_a_tool_declares_decides_in_a_step_of_its_own():
    make_layer()
    subject = {"name": "drop", "hints": {"needs_approval": True}}
    answer = answered("", tool=None, subject=subject)
    assert [(s.name, s.tone) for s in steps_of(answer) if s.decides] == [
        ("The tool declares that it needs approval", "ask")
    ]


def test_the_rule_that_decides_shows_the_values_that_it_met():
    denying()
    [step] = [s for s in steps_of(answered("drop", context={"agent": "coder"})) if s.decides]
    assert words(step.because) == "name is `drop`, agent is `coder`"


def test_layers_after_the_one_that_decides_only_would():
    denying(name="a first")
    make_rule(make_layer("b second", default="deny"), effect="require_approval")
    make_layer("c third")
    answer = answered("drop", context={"agent": "coder"})
    assert verdicts(answer) == ["Refuses", "Would ask", "Would admit"]
    assert [layer.dim for layer in answer.subjects[0].layers] == [False, True, True]


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        ("deny", "Refuses"),
        ("require_approval", "Asks"),
        ("hide", "Hides"),
        ("auto_approve", "Spares the question"),
        ("allow", "Admits"),
    ],
)
def test_a_layer_says_in_a_word_what_it_does(effect, said):
    make_rule(make_layer(), effect=effect)
    assert verdicts(answered("drop")) == [said]


def test_an_ordered_layer_says_what_its_last_match_does():
    layer = make_layer("modes", combining="last_match")
    for mode in ("off", "ask", "auto"):
        make_rule(layer, effect=mode, match={"name": "drop"})
    assert verdicts(answered("drop")) == ["Asks"]
    assert verdicts(answered("other")) == ["Says nothing"]


def test_a_layer_that_observes_says_that_it_only_would():
    make_rule(make_layer(observe=True), effect="deny")
    answer = answered("drop")
    assert verdicts(answer) == ["Would refuse, only observing"]
    assert answer.observed is not None


def test_rules_that_fail_alike_fold_and_the_first_deny_does_not():
    layer = make_layer()
    make_rule(layer, id="first", match={"name": "a"})
    for name in ("b", "c", "d"):
        make_rule(layer, id=f"no-{name}", match={"name": name})
    for name in ("x", "y"):
        make_rule(layer, id=f"off-{name}", match={"name": name}, enabled=False)
    make_rule(layer, id="chat", when={"channel": "telegram"})
    [shown] = answered("drop", context={"channel": "slack"}).subjects[0].layers
    assert [step.name for step in shown.steps] == ["first", "chat"]
    assert [(fold.about, len(fold.steps)) for fold in shown.folds] == [
        ("3 rules not met by the name", 3),
        ("2 rules switched off", 2),
    ]
    assert words(shown.steps[1].because) == "when channel is `slack`"


def test_of_very_many_rules_that_fail_alike_some_are_shown_and_the_others_counted():
    rules = [{"id": f"r{n}", "effect": "hide", "match": {"name": f"x{n}"}} for n in range(1_000)]
    entry = {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "policy": {"name": "many", "rules": rules},
    }
    policies.add_layers(actor=SYSTEM, layers=[entry], summary="added many rules")
    answer = answered("drop")
    [fold] = answer.subjects[0].layers[0].folds
    assert (fold.about, len(fold.steps), fold.more) == ("1000 rules not met by the name", 50, 950)
    assert "and 950 more" in answer.as_text
    assert len(answer.as_text) < 10_000


def test_what_could_not_be_read_never_folds():
    layer = make_layer()
    for name in ("a", "b", "c"):
        make_rule(layer, id=name, match={"hints": {"destructive": True}}, effect="allow")
    [shown] = answered("drop").subjects[0].layers
    assert [step.word for step in shown.steps] == ["Could not be read"] * 3


def test_each_reader_is_told_and_the_text_says_all_of_it():
    denying()
    make_layer("for others", scope="agent", target=["support"])
    answer = answered("drop", context={"agent": "coder", "channel": "web"})
    assert [reader for reader, _ in answer.messages] == ["The agent", "The person", "The admin"]
    text = answer.as_text
    assert text.startswith("Denied: coder on web may not call drop (rule_denied)\n")
    assert "[Matches, decides] no: Deny tools named `drop`, when agent is `coder`" in text
    assert "for others (agent, strict, otherwise allow): agent is `coder`, the layer wants" in text
    for _, message in answer.messages:
        assert message in text


def test_what_cannot_be_printed_is_escaped():
    make_rule(make_layer(), match={"arg": {"pointer": "/a", "value": "x"}})
    imported(named("drop"), family="box")
    answer = answered("drop", arguments={"a": "red\x1b[31m\u202e"})
    assert "\x1b" not in answer.as_text
    assert "\u202e" not in words(steps_of(answer)[0].because)
