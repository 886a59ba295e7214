"""Families and single tools: declared by hand, described further, reviewed, put aside."""

import pytest

from tests.registry.samples import ADMIN, entry, imported, last_record, named, tool
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Hint, Permission
from toolpolicy.models import PolicyState, Record, Tool, ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.errors import InvalidInput, NotFound, Refused

pytestmark = pytest.mark.django_db

DISPATCHER = {"target": "/tool_slug", "arguments": "/arguments"}


def family(name: str = "hub", **values):
    values = {"kind": "connector", **values}
    return registry.create_family(actor=ADMIN, values={"name": name, **values})


def declared(document, **laid):
    return registry.declare_tool(actor=ADMIN, family="hub", document=document, laid=laid)


def faults_of(call) -> list[tuple[str, str]]:
    records = Record.objects.count()
    with pytest.raises(InvalidInput) as error:
        call()
    assert Record.objects.count() == records
    return [(fault.pointer, fault.code) for fault in error.value.faults]


def digest() -> str:
    return PolicyState.objects.get().registry_digest


# --- families ------------------------------------------------------------------------------------


def test_a_family_is_created_with_a_record():
    family(prefix="hub_", trusted=False, description="Connectors.")
    row = ToolFamily.objects.get()
    assert (row.kind, row.prefix, row.trusted) == ("connector", "hub_", False)
    record, body = last_record()
    assert (record.kind, record.family, body["action"]) == ("change", "hub", "create_family")
    assert body["before"] is None
    assert body["after"]["description"] == "Connectors."


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, [("", "missing")]),
        ({"name": 5}, [("/name", "invalid")]),
        ({"name": "a b"}, [("/name", "invalid")]),
        ({"name": "hub"}, [("/name", "duplicate")]),
        ({"name": "Hub"}, [("/name", "case_twin")]),
        ({"name": "x", "kind": "other"}, [("/kind", "invalid")]),
        ({"name": "x", "prefix": "a b"}, [("/prefix", "invalid")]),
        ({"name": "x", "trusted": "yes"}, [("/trusted", "invalid")]),
        ({"name": "x", "description": None}, [("/description", "invalid")]),
        ({"name": "x", "colour": "red"}, [("/colour", "unknown_member")]),
        (
            {"kind": 5, "tags": []},
            [("/tags", "unknown_member"), ("/kind", "invalid"), ("", "missing")],
        ),
    ],
)
def test_a_bad_family_is_refused_with_every_fault(values, expected):
    family()
    assert faults_of(lambda: registry.create_family(actor=ADMIN, values=values)) == expected


def test_a_family_that_loses_trust_is_judged_otherwise_at_once():
    imported({"tools": [tool("run", annotations={"readOnlyHint": True})]})
    assert entry("run").subject.hint(Hint.READ_ONLY) is True
    before = digest()
    registry.update_family(actor=ADMIN, name="box", version=1, values={"trusted": False})
    assert digest() != before
    assert entry("run").subject.hint(Hint.READ_ONLY) is None
    _, body = last_record()
    assert (body["before"]["trusted"], body["after"]["trusted"]) == (True, False)
    assert body["registry"] == {"before": before, "after": digest()}


def test_what_tools_are_known_by_is_fixed_once_there_are_tools():
    family()
    values = {"prefix": "h_", "kind": "toolpack"}
    registry.update_family(actor=ADMIN, name="hub", version=1, values=values)
    declared({"name": "run"})
    moved = {"name": "other", "prefix": "", "kind": "connector", "trusted": True}
    expected = [("/name", "fixed"), ("/kind", "fixed"), ("/prefix", "fixed")]
    assert sorted(
        faults_of(lambda: registry.update_family(actor=ADMIN, name="hub", version=2, values=moved))
    ) == sorted(expected)


def test_an_update_that_changes_nothing_leaves_no_record():
    family()
    before = Record.objects.count()
    registry.update_family(actor=ADMIN, name="hub", version=1, values={"kind": "connector"})
    assert (Record.objects.count(), ToolFamily.objects.get().version) == (before, 1)


def test_an_unknown_family_is_not_found():
    with pytest.raises(NotFound):
        registry.update_family(actor=ADMIN, name="nobody", version=1, values={})
    with pytest.raises(NotFound):
        registry.declare_tool(actor=ADMIN, family="nobody", document={"name": "run"})


# --- tools declared by hand ----------------------------------------------------------------------


def test_a_hand_made_tool_is_reviewed_and_judged_as_it_says():
    family()
    row = declared({"name": "run", "verb": "create", "permission": "Execute", "title": "Run it"})
    assert (row.state, row.reviewed_id, row.title) == ("active", row.current_id, "Run it")
    subject = entry("run", "hub").subject
    assert (subject.verb, subject.permission) == ("create", Permission.EXECUTE)
    record, body = last_record()
    assert (record.kind, record.family, record.tool) == ("change", "hub", "run")
    assert (body["action"], body["before"]) == ("declare_tool", None)
    assert body["after"]["declaration"] == row.current_id


def test_a_declared_dispatcher_is_unfolded_and_a_privilege_read():
    family()
    privilege = [{"pointer": "/mode", "patterns": "rm", "level": "Dangerous"}]
    declared({"name": "run", "permission": "Write"}, dispatcher=DISPATCHER, privilege=privilege)
    found = entry("run", "hub")
    assert found.dispatcher is not None
    assert found.dispatcher.target == ("/tool_slug",)
    assert found.subject_of_call({"mode": "rm"}).permission is Permission.DANGEROUS
    assert found.subject_of_call(ABSENT).permission is Permission.DANGEROUS


def test_the_same_declaration_again_leaves_no_record():
    family()
    declared({"name": "run"})
    before = Record.objects.count()
    declared({"name": "run"})
    assert (Record.objects.count(), Tool.objects.count()) == (before, 1)


def test_a_declaration_that_changes_asks_for_approval_until_it_is_reviewed():
    family()
    first = declared({"name": "run"})
    second = declared({"name": "run", "verb": "delete"})
    assert (second.pk, second.state) == (first.pk, "changed")
    with pytest.raises(Refused) as stale:
        registry.review_tool(actor=ADMIN, family="hub", name="run", declaration=first.current_id)
    assert stale.value.code == "stale"
    reviewed = registry.review_tool(
        actor=ADMIN, family="hub", name="run", declaration=second.current_id
    )
    assert (reviewed.state, reviewed.reviewed_id) == ("active", second.current_id)
    assert last_record()[1]["action"] == "review_tool"


def test_the_tools_of_a_server_are_not_declared_by_hand():
    imported(named("run"))
    with pytest.raises(Refused) as refused:
        registry.declare_tool(actor=ADMIN, family="box", document={"name": "run"})
    assert refused.value.code == "imported_family"


@pytest.mark.parametrize(
    ("document", "laid", "expected"),
    [
        (
            {},
            {},
            [
                "",
            ],
        ),
        ({"name": "a b"}, {}, ["/name"]),
        ({"name": "run", "family": "other"}, {}, ["/family"]),
        ({"name": "Stop"}, {}, ["/name"]),
        ({"name": "run", "hints": {"x": True}}, {}, ["/hints/x"]),
        ({"name": "run"}, {"dispatcher": {}}, ["/dispatcher"]),
        ({"name": "run"}, {"dispatcher": {"target": 5}}, ["/dispatcher/target"]),
        ({"name": "run"}, {"privilege": [{}]}, ["/privilege/0"] * 3),
        ({"name": "run"}, {"overrides": {"name": "x"}}, ["/overrides/name"]),
        ({"name": "run"}, {"override": {}}, ["/override"]),
        (
            {"name": "run"},
            {"overrides": {"verb": 1}, "dispatcher": []},
            ["/overrides/verb", "/dispatcher"],
        ),
    ],
)
def test_a_bad_hand_made_tool_is_refused_with_every_fault(document, laid, expected):
    family()
    declared({"name": "stop"})
    found = faults_of(lambda: declared(document, **laid))
    assert [pointer for pointer, _ in found] == expected
    assert Tool.objects.count() == 1


# --- laid over, reviewed, put aside --------------------------------------------------------------


def test_overrides_survive_the_next_import():
    imported(named("run"))
    laid = {"overrides": {"hints": {"read_only": True}}}
    registry.update_tool(actor=ADMIN, family="box", name="run", version=1, laid=laid)
    assert entry("run").subject.permission is Permission.READ_ONLY
    imported({"tools": [tool("run", annotations={"destructiveHint": True})]})
    subject = entry("run").subject
    assert subject.hint(Hint.READ_ONLY) is True
    assert subject.permission is Permission.DANGEROUS


def test_what_is_laid_over_is_removed_by_null_and_kept_when_left_out():
    imported(named("run"))

    def lay(**laid):
        version = Tool.objects.get().version
        registry.update_tool(actor=ADMIN, family="box", name="run", version=version, laid=laid)

    lay(dispatcher=DISPATCHER, overrides={"verb": "get"})
    lay(dispatcher=None)
    found = entry("run")
    assert (found.dispatcher, found.subject.verb) == (None, "get")
    lay(overrides=None)
    assert entry("run").subject.verb is None
    _, body = last_record()
    assert body["before"]["overrides"] == {"verb": "get"}
    assert "overrides" not in body["after"]


def test_a_bad_override_of_an_imported_tool_is_refused():
    imported(named("run"))
    laid = {"overrides": {"permission": "root"}}
    found = faults_of(
        lambda: registry.update_tool(actor=ADMIN, family="box", name="run", version=1, laid=laid)
    )
    assert found == [("/overrides/permission", "unknown_word")]


@pytest.mark.parametrize(
    ("put_aside", "state"),
    [(registry.quarantine_tool, "quarantined"), (registry.retire_tool, "retired")],
)
def test_a_tool_is_put_aside_and_a_review_brings_it_back(put_aside, state):
    imported(named("run"))
    row = put_aside(actor=ADMIN, family="box", name="run")
    assert (row.state, entry("run").state) == (state, state)
    _, body = last_record()
    assert (body["before"]["state"], body["after"]["state"]) == ("active", state)
    registry.review_tool(actor=ADMIN, family="box", name="run", declaration=row.current_id)
    assert entry("run").state == "active"


@pytest.mark.parametrize(
    "change",
    [
        registry.quarantine_tool,
        registry.retire_tool,
        lambda **who: registry.review_tool(**who, declaration="sha256:0"),
        lambda **who: registry.update_tool(**who, version=1, laid={}),
    ],
)
def test_an_unknown_tool_is_not_found(change):
    imported(named("run"))
    for place in ({"family": "box", "name": "Run"}, {"family": "other", "name": "run"}):
        with pytest.raises(NotFound):
            change(actor=ADMIN, **place)


@pytest.mark.parametrize("word", ["stop", "sToP"])
def test_every_write_moves_the_registry_in_the_same_transaction(word, monkeypatch):
    """What fails at the record leaves the registry as it was."""
    imported(named("run"))
    before = digest()

    def fail(*args, **kwargs):
        raise RuntimeError(word)

    monkeypatch.setattr("toolpolicy.audit.writer.write", fail)
    with pytest.raises(RuntimeError):
        registry.retire_tool(actor=ADMIN, family="box", name="run")
    with pytest.raises(RuntimeError):
        imported(named("run", word))
    assert (digest(), Tool.objects.get().state) == (before, "active")
