"""How far the stream is behind is seen by whoever watches, and keeps no decision back."""

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from tests.api.test_metrics import figures
from tests.audit.logs import sealed_log, write_records
from tests.audit.test_streaming import numbers
from toolpolicy.models import StreamState
from toolpolicy.services import sealing

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(settings, tmp_path):
    path = tmp_path / "records.jsonl"
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, stream_file=str(path))
    return path


def once():
    out, error = StringIO(), StringIO()
    call_command("worker", "--once", stdout=out, stderr=error)
    return out.getvalue(), error.getvalue()


def readiness():
    answer = Client().get("/readyz")
    return answer.json(), answer.json()["checks"].get("seals")


def test_a_worker_streams_where_the_settings_say_so(path):
    write_records(2)
    assert once() == ("sealed 2 records\nstreamed 2 records\n", "")
    assert numbers(path) == [1, 2]


def test_without_the_setting_nothing_is_streamed_and_nothing_shown():
    sealed_log(1)
    assert once() == ("sealed 0 records\n", "")
    assert not StreamState.objects.exists()
    assert not any("stream" in name for name in figures())
    assert "notes" not in readiness()[0]


def test_a_worker_that_cannot_stream_seals_all_the_same(path):
    path.mkdir()
    write_records(2)
    said, fault = once()
    assert said == "sealed 2 records\n"
    assert fault == f"the records are not streamed: {path} cannot be opened: Is a directory\n"
    found = figures()
    assert found["toolpolicy_stream_backlog_records"] == 2
    assert found["toolpolicy_stream_failing"] == 1
    (state,) = sealing.status().streams
    assert (state.target, state.seq) == (str(path), 0)


def test_the_metrics_say_how_far_the_stream_is(path):
    sealed_log(3)
    assert figures()["toolpolicy_stream_backlog_records"] == 3
    once()
    found = figures()
    assert found["toolpolicy_stream_backlog_records"] == 0
    assert found["toolpolicy_stream_failing"] == 0


def test_a_stream_that_is_behind_is_noted_and_the_server_stays_as_ready_as_it_was(
    path, monkeypatch
):
    assert readiness()[0]["notes"] == {"stream": "ok"}
    sealed_log(1)
    ready = readiness()[0]["ready"]
    assert readiness()[0]["notes"] == {"stream": "ok"}
    later = timezone.now() + timedelta(seconds=61)
    monkeypatch.setattr(timezone, "now", lambda: later)
    told, seals = readiness()
    assert told["notes"]["stream"].startswith("a sealed record waits for 61 s to be streamed")
    assert (told["ready"], seals) == (ready, "ok")


def test_a_command_streams_once_to_a_file_or_to_standard_output(tmp_path, capfdbinary):
    sealed_log(2)
    said = StringIO()
    call_command("audit", "stream", "--to", str(tmp_path / "a.jsonl"), stderr=said)
    assert said.getvalue() == "streamed 2 records\n"
    call_command("audit", "stream", "--to", "-", stderr=StringIO())
    assert capfdbinary.readouterr().out == (tmp_path / "a.jsonl").read_bytes()


def test_a_command_says_why_it_cannot_stream(tmp_path):
    with pytest.raises(CommandError, match="cannot be opened: Is a directory"):
        call_command("audit", "stream", "--to", str(tmp_path))
