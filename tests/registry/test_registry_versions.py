"""Whoever edits a tool or family says which version they saw; nobody's change is lost unseen."""

import pytest

from tests.registry.samples import ADMIN, imported, named, tool
from toolpolicy.models import PolicyState, Record, Tool, ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.errors import Refused, Stale

pytestmark = pytest.mark.django_db

LAID = {"overrides": {"verb": "get"}}
PRIVILEGE = [{"pointer": "/mode", "patterns": "rm", "level": "Dangerous"}]
MEMBERS = [LAID, {"dispatcher": {"target": "/tool"}}, {"privilege": PRIVILEGE}]


def lay(version, **laid):
    return registry.update_tool(actor=ADMIN, family="box", name="run", version=version, laid=laid)


def declare(document, **how):
    return registry.declare_tool(actor=ADMIN, family="hub", document=document, **how)


@pytest.fixture
def by_hand():
    registry.create_family(actor=ADMIN, values={"name": "hub", "kind": "toolpack"})
    return declare({"name": "run"})


@pytest.mark.parametrize("mine", MEMBERS)
@pytest.mark.parametrize("theirs", MEMBERS)
def test_a_change_of_a_tool_as_it_was_before_is_refused_and_undoes_nothing(mine, theirs):
    imported(named("run"))
    assert lay(1, **theirs).version == 2
    records, digest = Record.objects.count(), PolicyState.objects.get().registry_digest
    with pytest.raises(Stale) as stale:
        lay(1, **mine)
    assert (stale.value.expected, stale.value.found) == (1, 2)
    row = Tool.objects.get()
    assert {name: getattr(row, name) for name in theirs} == theirs
    assert (Record.objects.count(), PolicyState.objects.get().registry_digest) == (records, digest)


def test_a_change_of_a_family_as_it_was_before_is_refused_and_undoes_nothing():
    registry.create_family(actor=ADMIN, values={"name": "hub"})

    def change(**values):
        return registry.update_family(actor=ADMIN, name="hub", version=1, values=values)

    assert change(trusted=False).version == 2
    with pytest.raises(Stale):
        change(description="Mine.")
    row = ToolFamily.objects.get()
    assert (row.trusted, row.description, row.version) == (False, "", 2)


def test_what_changes_nothing_leaves_the_version():
    imported(named("run"))
    lay(1, **LAID)
    assert lay(2, **LAID).version == 2


def test_reviews_and_what_is_put_aside_count():
    imported(named("run"))
    row = registry.quarantine_tool(actor=ADMIN, family="box", name="run")
    assert row.version == 2
    row = registry.review_tool(actor=ADMIN, family="box", name="run", declaration=row.current_id)
    assert row.version == 3


def test_an_import_takes_nothing_from_an_editor_and_leaves_the_version():
    imported(named("run"))
    imported({"tools": [tool("run", description="Runs.")]})
    row = lay(1, **LAID)
    assert (row.version, row.state, row.overrides) == (2, "changed", LAID["overrides"])


def test_a_tool_declared_anew_keeps_what_is_laid_over_it(by_hand):
    declare({"name": "run"}, laid=LAID, version=1)
    row = declare({"name": "run", "verb": "list"})
    assert (row.version, row.overrides) == (3, LAID["overrides"])


def test_over_a_registered_tool_nothing_is_laid_unseen(by_hand):
    with pytest.raises(Refused) as refused:
        declare({"name": "run"}, laid=LAID)
    assert refused.value.code == "version_required"
    declare({"name": "run"}, laid=LAID, version=by_hand.version)
    with pytest.raises(Stale):
        declare({"name": "run"}, laid={"overrides": {}}, version=by_hand.version)
    with pytest.raises(Stale):
        declare({"name": "run", "verb": "list"}, version=by_hand.version)
    assert Tool.objects.get().overrides == LAID["overrides"]
