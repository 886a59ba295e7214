"""Everything that the log says about one thing."""

import pytest

from tests.audit.logs import write_records
from tests.factories import SYSTEM
from toolpolicy.audit import writer
from toolpolicy.models import Record
from toolpolicy.services import freezes
from toolpolicy.services.timeline import About, narrow

pytestmark = pytest.mark.django_db


def told(about, name, **options):
    found = narrow(Record.objects.newest_first(), about, name, **options)
    return [(record.kind, record.object_label or record.tool) for record in found]


def test_a_tool_has_its_calls_and_its_freezes():
    write_records(1, tool="read_file", family="files")
    write_records(1, tool="read_files", family="files")
    freezes.freeze(actor=SYSTEM, values={"kind": "tool", "value": "read_file", "reason": "odd"})
    assert told(About.TOOL, "read_file") == [
        ("freeze", "tool read_file"),
        ("decision", "read_file"),
    ]
    assert told(About.TOOL, "read_file", only_done=True) == [("freeze", "tool read_file")]
    assert len(told(About.FAMILY, "files")) == 2


def test_a_rule_is_named_alone_or_with_its_layer():
    write_records(1, layer="base", rule="no-mail")
    write_records(1, layer="other", rule="no-mail")
    assert len(told(About.RULE, "no-mail")) == 2
    assert len(told(About.RULE, "base / no-mail")) == 1
    assert len(told(About.LAYER, "other")) == 1


def test_an_agent_a_channel_and_a_session_have_their_calls():
    write_records(1, agent="a", channel="c", session="s")
    for about, name in ((About.AGENT, "a"), (About.CHANNEL, "c"), (About.SESSION, "s")):
        assert len(told(about, name)) == 1
        assert told(about, name.upper()) == []


def test_a_person_has_what_it_did_and_what_was_done_to_its_account():
    write_records(1, actor_label="ann")
    writer.write(
        kind="permission",
        body={},
        index=writer.RecordIndex(actor_label="root", object_label="ann"),
    )
    writer.write(
        kind="change", body={}, index=writer.RecordIndex(actor_label="ann", object_label="base")
    )
    assert told(About.PERSON, "ann") == [("change", "base"), ("permission", "ann")]
