"""Importing and exporting the policy: whole or as added layers, all of it or nothing (SPEC §10)."""

import json

import pytest

from tests.factories import SYSTEM, live_version, make_layer, make_rule, make_user
from tests.growing import Choices, documents
from toolpolicy.engine import canonical
from toolpolicy.engine.documents import FORMAT, dump_policy, parse_policy
from toolpolicy.engine.formats import Place
from toolpolicy.engine.words import Scope
from toolpolicy.models import Layer, PolicyVersion, Record, Rule
from toolpolicy.services import policies
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, NotFound, Refused, Stale
from toolpolicy.services.policies import ImportMode, ImportOptions

pytestmark = pytest.mark.django_db
DENY = {"effect": "deny", "match": {"name": "rm_*"}}


def entry(name, *rules, position=0, scope="config", **rest):
    return {
        "scope": scope, "position": position, "combining": "deny_overrides",
        "policy": {"name": name, "default": "allow", "rules": list(rules)}, **rest,
    }  # fmt: skip


def document(*entries):
    return {"format": FORMAT, "layers": list(entries)}


def load(given, actor=SYSTEM, **options):
    return policies.import_document(actor=actor, document=given, options=ImportOptions(**options))


def everything():
    rows = [*Layer.objects.in_order().values(), *Rule.objects.in_order().values()]
    return rows, PolicyVersion.objects.count(), Record.objects.count()


def faults_of(given, **options):
    before = everything()
    with pytest.raises(InvalidInput) as caught:
        load(given, **options)
    assert everything() == before
    return [(fault.pointer, fault.code) for fault in caught.value.faults]


# --- whole ----------------------------------------------------------------------------------------


def test_an_export_imported_again_changes_nothing():
    make_rule(make_layer("a", scope="agent", target=["x", "y"], description="d"), id="r")
    make_rule(make_layer("b", combining="last_match"), effect="ask", match={"name": "*"})
    before = everything()
    saved = load(policies.export())
    assert (saved.changed, saved.changes, saved.version) == (False, [], live_version())
    assert everything() == before


def test_an_import_replaces_the_policy_and_keeps_the_rows_of_what_stays():
    layer = make_layer("kept")
    rule = make_rule(layer, id="r")
    make_layer("gone")
    exported = policies.export()
    exported["layers"] = [exported["layers"][0], entry("new", DENY, position=5)]
    saved = load(exported)
    assert saved.changed
    assert [(c["change"], c["layer"]) for c in saved.changes] == [
        ("added", "new"), ("removed", "gone"),
    ]  # fmt: skip
    assert [row.name for row in Layer.objects.in_order()] == ["kept", "new"]
    assert (Layer.objects.get(name="kept").pk, Rule.objects.get(rule_id="r").pk) == (
        layer.pk, rule.pk,
    )  # fmt: skip
    assert saved.version == live_version()
    assert live_version().comment == (
        "replaced the policy with 2 layers from a file (policy document)"
    )
    record = json.loads(Record.objects.newest_first()[0].body.text)
    assert (record["action"], len(record["before"]["layers"])) == ("import_document", 2)


def test_rules_without_an_id_get_one():
    load(document(entry("a", DENY, {**DENY, "id": "mine"}, DENY)))
    assert [rule.rule_id for rule in Rule.objects.in_order()] == ["deny-rm_", "mine", "deny-rm_-2"]


def test_layers_that_share_a_position_are_numbered_as_they_apply():
    load(document(entry("b"), entry("a"), entry("c", position=-5), entry("d", position=7,
         scope="agent", target="x")))  # fmt: skip
    assert [(row.name, row.position) for row in Layer.objects.in_order()] == [
        ("c", 0), ("a", 1), ("b", 2), ("d", 7),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_any_policy_comes_back_as_it_was_written(seed):
    written = documents(Choices(seed * 977_777, stamina=8))
    for place, layer in enumerate(written["layers"]):
        layer["position"] = place
        for number, rule in enumerate(layer["policy"]["rules"]):
            rule.setdefault("id", f"set-{number}")
            if rule.get("reason") == "":
                del rule["reason"]
    load(written)
    policy = parse_policy(policies.export())
    same = {layer.name: layer for layer in parse_policy(written).layers}
    assert {layer.name: layer for layer in policy.layers} == same
    again = load(policies.export())
    assert not again.changed
    assert canonical.dumps(policies.export()) == canonical.dumps(dump_policy(policy))


# --- added ----------------------------------------------------------------------------------------


def test_added_layers_come_last_in_their_scopes_in_their_own_order():
    make_layer("first")
    make_layer("agents", scope="agent", target="*")
    added = document(entry("z", position=9), entry("y", position=3), entry("x", scope="agent",
                     target="a"))  # fmt: skip
    saved = load(added, mode=ImportMode.ADD)
    assert [(row.name, row.position) for row in Layer.objects.in_order()] == [
        ("first", 0), ("y", 1), ("z", 2), ("agents", 0), ("x", 1),
    ]  # fmt: skip
    assert [change["change"] for change in saved.changes] == ["added"] * 3
    assert live_version().comment == "added 3 layers from a file (policy document)"


def test_a_layer_that_is_there_already_is_not_added_again():
    make_layer("a")
    make_layer("b")
    given = [{"name": "a"}, {"name": "new"}, {"name": "b"}]
    assert faults_of(given, mode=ImportMode.ADD) == [
        ("/0/name", "duplicate"), ("/2/name", "duplicate"),
    ]  # fmt: skip
    whole = document(entry("a"))
    assert faults_of(whole, mode=ImportMode.ADD) == [("/layers/0/policy/name", "duplicate")]


def test_an_ordered_policy_of_an_agent_is_added_under_its_name():
    where = Place(name="captain", scope=Scope.AGENT, target=("captain",))
    given = {"toolPreferences": {"mail": "off"}, "toolPolicy": [{"match": {"name": "*"},
             "mode": "ask"}]}  # fmt: skip
    saved = load(given, mode=ImportMode.ADD, where=where)
    layer = Layer.objects.get()
    assert (layer.name, layer.scope, layer.target) == ("captain", "agent", "captain")
    assert [rule.effect for rule in Rule.objects.in_order()] == ["off", "off", "ask"]
    assert (saved.form, saved.layers) == ("ordered policy", 1)


# --- refused --------------------------------------------------------------------------------------


def test_every_fault_is_named_and_nothing_is_imported():
    make_rule(make_layer("house rules"))
    wrong = document(
        entry("a", {"effect": "dney"}),
        entry("a", DENY | {"matc": {}}),
        entry("agent", scope="agent"),
    )
    assert faults_of(wrong) == [
        ("/layers/0/policy/rules/0/effect", "unknown_word"),
        ("/layers/1/policy/rules/0/matc", "unknown_member"),
        ("/layers/2", "missing"),
        ("/layers/1/policy/name", "duplicate"),
    ]


def test_what_no_row_can_hold_is_refused_with_its_pointer():
    long, odd = "n" * 201, {**DENY, "id": "not an id"}
    whole = document(entry(long, odd), entry("far", position=1_000_000), entry("less", position=-1))
    assert faults_of(whole) == [
        ("/layers/0/policy/name", "invalid"),
        ("/layers/0/policy/rules/0/id", "invalid"),
        ("/layers/1/position", "invalid"),
        ("/layers/2/position", "invalid"),
    ]
    assert faults_of([{"name": long, "rules": [DENY, odd]}]) == [
        ("/0/name", "invalid"), ("/0/rules/1/id", "invalid"),
    ]  # fmt: skip
    ordered = {"match": {"name": "*"}, "mode": "on", "id": ""}
    given = {"toolPreferences": {"x": "on"}, "toolPolicy": [ordered]}
    assert faults_of(given, where=Place(name=long)) == [
        ("", "invalid"), ("/toolPolicy/0/id", "invalid"),
    ]  # fmt: skip


def test_the_baseline_is_not_imported_away_without_its_permission():
    policies.install_baseline(actor=SYSTEM)
    before = everything()
    author = Actor.for_user(make_user("ada", groups=("author",)))
    for dry_run in (True, False):
        with pytest.raises(Refused) as caught:
            load(document(), actor=author, dry_run=dry_run)
        assert caught.value.code == "baseline_protected"
    load([{"name": "x"}], actor=author, mode=ImportMode.ADD)
    assert everything()[1] == before[1] + 1


# --- a dry run ------------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_change_and_writes_nothing():
    make_layer("a")
    before, live = everything(), live_version()
    saved = load(document(entry("b", DENY)), dry_run=True)
    assert (saved.changed, saved.dry_run, saved.version) == (True, True, live)
    assert [(c["change"], c["layer"]) for c in saved.changes] == [("added", "b"), ("removed", "a")]
    assert everything() == before
    assert not load(policies.export(), dry_run=True).changed
    assert faults_of(document(entry("")), dry_run=True) == [("/layers/0/policy/name", "missing")]
    make_layer("c")
    assert live_version().number == live.number + 1


# --- exports --------------------------------------------------------------------------------------


def test_a_version_is_exported_as_it_was():
    make_layer("a")
    make_layer("b")
    names = [[entry["policy"]["name"] for entry in policies.export(number=n)["layers"]]
             for n in (1, None)]  # fmt: skip
    assert names == [["a"], ["a", "b"]]
    with pytest.raises(NotFound):
        policies.export(number=9)


def test_without_a_policy_there_is_nothing_to_export():
    with pytest.raises(NotFound):
        policies.export()


def test_a_policy_that_changed_since_it_was_seen_is_not_replaced():
    assert load(document(entry("a")), seen=0).changed
    seen = live_version().number
    load(document(entry("b")), seen=seen)
    before = everything()
    for number in (0, seen, seen + 5):
        for dry_run in (True, False):
            with pytest.raises(Stale) as caught:
                load(document(entry("c")), seen=number, dry_run=dry_run)
            assert (caught.value.expected, caught.value.found) == (number, seen + 1)
    assert everything() == before
