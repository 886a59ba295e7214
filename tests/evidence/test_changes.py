"""The report of changes: each change once, in sentences, with its proven effect."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.evidence.asked import around_now, changes, newest, person, report
from tests.factories import ORIGIN, SYSTEM, make_layer, make_rule, make_user
from tests.live import register
from tests.registry.samples import imported, named
from toolpolicy.models import Record, RecordBody
from toolpolicy.services import clients, freezes, policies, registry, sign_ins
from toolpolicy.services.evidence.changes import changes as report_of
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.tables import ShownSection

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    return person("ada", "author", "publisher")


@pytest.fixture
def layer(ada):
    return make_layer(actor=ada)


def updated(rule, actor, **values):
    policies.update_rule(actor=actor, rule=rule.pk, version=rule.layer.version, values=values)


def test_a_change_of_a_rule_is_told_with_author_sentence_difference_and_effect(ada, layer):
    rule = make_rule(layer, actor=ada, id="no-mail", match={"name": "mail_*"})
    updated(rule, ada, match={"name": ["mail_*", "post_*"]})
    entry = newest()
    assert (entry["who"], entry["area"], entry["effect"]) == ("ada", "change", "tightens")
    assert entry["comment"] == "changed the rule `no-mail` of the layer `house rules`"
    assert entry["policy_version"] == 3
    [sentence] = entry["sentences"]
    assert sentence == (
        "house rules / no-mail (changed, tightens): Deny tools named `mail_*` or `post_*`; "
        "match.name: added `post_*`"
    )
    [difference] = entry["differences"]
    assert difference["before"]["match"] == {"name": "mail_*"}
    assert difference["after"]["match"] == {"name": ["mail_*", "post_*"]}
    assert entry["exceptions"] == []


def test_every_change_stands_in_it_once_and_what_stands_out_comes_first(ada, layer):
    rule = make_rule(layer, actor=ada, match={"name": "mail_*"})
    layer.refresh_from_db()
    policies.delete_rule(actor=ada, rule=rule.pk, version=layer.version)
    register("box", {"name": "read"})
    clients.create(actor=SYSTEM, values={"name": "k"})
    found = report("changes")
    assert [entry["exceptions"] for entry in found["exceptions"]] == [
        *([["nobody"]] * 3),
        ["loosens"],
    ]
    assert [entry["comment"].split(" the ")[0] for entry in found["others"]] == ["added"] * 2
    told = {entry["id"] for entry in (*found["exceptions"], *found["others"])}
    recorded = Record.objects.filter(kind__in=("change", "key"))
    assert told == {str(record.uid) for record in recorded}
    assert found["records"] == len(told)


def test_the_newest_change_comes_first(ada):
    for name in ("one", "two", "three"):
        make_layer(name, actor=ada)
    assert [entry["about"] for entry in changes()] == ["three", "two", "one"]


@pytest.mark.parametrize(
    ("state", "act", "effect", "sentence"),
    [
        ("active", registry.quarantine_tool, "tightens", "state: active → quarantined"),
        ("active", registry.retire_tool, "tightens", "state: active → retired"),
        ("quarantined", registry.retire_tool, None, "state: quarantined → retired"),
    ],
)
def test_the_state_of_a_tool_tightens_and_loosens(db, state, act, effect, sentence):
    register("box", {"name": "read"})
    if state == "quarantined":
        registry.quarantine_tool(actor=SYSTEM, family="box", name="read")
    act(actor=SYSTEM, family="box", name="read")
    entry = newest()
    assert (entry["area"], entry["effect"], entry["sentences"]) == ("registry", effect, [sentence])


def test_freezes_tighten_and_liftings_loosen(db):
    values = {"kind": "agent", "value": "coder", "reason": "a loop"}
    freeze = freezes.freeze(actor=SYSTEM, values=values)
    assert (newest()["effect"], newest()["sentences"][0]) == ("tightens", "reason: a loop")
    freezes.lift(actor=SYSTEM, freeze=freeze.pk)
    assert newest()["effect"] == "loosens"


def test_an_import_tells_its_counts_and_its_report(db):
    imported(named("read", "write"))
    [entry] = [one for one in changes() if one["kind"] == "import"]
    assert entry["comment"] == "box: 2 added, 0 changed, 0 unchanged, 0 vanished"
    assert len(entry["details"]["report"]["added"]) == 2
    assert entry["effect"] is None


def test_sign_ins_are_no_changes_and_failed_ones_are_counted_by_account(db):
    make_user("ada")
    for name, times in (("ada", 3), ("nobody-here", 1)):
        for _ in range(times):
            attempt = sign_ins.begin(name=name, origin=ORIGIN)
            sign_ins.failed(attempt=attempt, right_password=False)
    found = report("changes")
    assert [(one["account"], one["count"]) for one in found["failed_sign_ins"]] == [
        ("ada", 3),
        ("", 1),
    ]
    assert found["exceptions"] == found["others"] == []


def test_changes_before_and_after_the_period_are_left_out(ada, layer):
    made = Record.objects.get(kind="change").at
    inside = Period(since=made, until=made + timedelta(microseconds=1))
    assert len(report("changes", inside)["others"]) == 1
    before = Period(since=made - timedelta(hours=1), until=made)
    after = Period(since=made + timedelta(microseconds=1), until=timezone.now())
    assert report("changes", before)["others"] == report("changes", after)["others"] == []


def test_a_change_whose_text_is_gone_is_told_by_what_stands_beside(ada, layer):
    RecordBody.objects.filter(record__kind="change").delete()
    [entry] = changes()
    assert entry["exceptions"] == ["text_gone"]
    assert (entry["who"], entry["about"], entry["policy_version"]) == ("ada", "house rules", 1)
    assert (entry["differences"], entry["sentences"], entry["details"]) == ([], [], {})


def test_a_page_looks_at_the_newest_few_and_says_what_it_left_out(ada):
    for number in range(5):
        make_layer(f"layer {number}", actor=ada)
    found = report_of(around_now(), most=3)
    others = {section.name: section for section in found.sections}["others"]
    shown = ShownSection.of(others)
    assert [row[2][1] for row in shown.rows] == [["policy change"]] * 3
    assert str(others.cut) == "Only the newest 3 of 5 changes were looked at here."
    whole = {one.name: one for one in report_of(around_now(), most=None).sections}["others"]
    assert (len(list(whole.rows())), whole.cut) == (5, "")


def test_a_page_looks_at_few_changes_where_policies_are_large(ada, monkeypatch):
    monkeypatch.setattr("toolpolicy.services.evidence.changes.MOST_TEXT", 10)
    for number in range(3):
        make_layer(f"layer {number}", actor=ada)
    others = {one.name: one for one in report_of(around_now(), most=100).sections}["others"]
    assert [entry["about"] for entry in others.rows()] == ["layer 2"]
    assert str(others.cut) == "Only the newest 1 of 3 changes were looked at here."


def test_the_number_of_queries_is_fixed(ada):
    counts = []
    for number in range(2):
        make_layer(f"layer {number}", actor=ada)
        freezes.freeze(
            actor=ada, values={"kind": "tool", "value": f"t{number}", "reason": "a loop"}
        )
        with CaptureQueriesContext(connection) as asked:
            for section in report_of(around_now(), most=100).sections:
                ShownSection.of(section)
        counts.append(len(asked))
    assert counts == [13, 13]


def test_it_is_read_in_pieces_whatever_its_length(ada, monkeypatch):
    monkeypatch.setattr("toolpolicy.services.evidence.changes.AT_ONCE", 2)
    for number in range(5):
        make_layer(f"layer {number}", actor=ada)
    assert len(changes()) == 5
