"""The auditor's pages: how the log stands, verifying it, evidence in three clicks, timelines."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.admin.pages import decide, signed_in, staff, text_of
from tests.audit.logs import sealed_log, tampering, write_records
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.audit import checkpoints
from toolpolicy.models import Record, VerificationRun
from toolpolicy.services import holds, policies, verification_runs

pytestmark = pytest.mark.django_db
HOME = "admin:toolpolicy_audit"


@pytest.fixture
def rita(db):
    return signed_in(staff("rita", groups=("auditor",)))


def home(client) -> str:
    return text_of(client.get(reverse(HOME)))


def test_it_says_how_far_everything_is_sealed(rita):
    sealed_log(3)
    assert "Everything up to record 3 is sealed" in home(rita)
    write_records(2)
    assert "2 records, the oldest for 0 s" in home(rita)


def test_before_the_first_seal_it_says_so(rita):
    assert "Nothing is sealed yet." in home(rita)


def test_a_log_that_is_not_sealed_any_further_is_said_first(rita):
    sealed_log(1)
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_block SET signature = '00'")
    assert "The log is not sealed any further:</b> block 1 is not as it was signed" in home(rita)


def test_it_says_how_long_texts_are_kept_and_how_many_holds_stand(rita, settings):
    page = home(rita)
    assert "<dt>400 days</dt><dd>the text of every record</dd>" in page
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, retention_by_kind=(("listing", 200),))
    hold = {"name": "case 12", "reason": "a dispute", "filter": {"agent": "coder-7"}}
    holds.place(actor=SYSTEM, values=hold)
    page = home(rita)
    assert '<dt>200 days</dt><dd><span lang="en" translate="no">listing</span></dd>' in page
    assert re.search(r"<dt>Legal holds</dt><dd>(<a [^>]*>)?1<", page)


def test_a_verification_is_started_and_its_end_is_shown(
    rita, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(verification_runs, "in_thread", lambda work: work())
    sealed_log(2)
    with django_capture_on_commit_callbacks(execute=True):
        answer = rita.post(reverse("admin:toolpolicy_audit_verify"), {"full": "1"})
    assert answer.headers["Location"] == reverse(HOME) + "#verification"
    page = home(rita)
    assert "<b>good</b>" in page
    assert "the log is good" in page
    assert VerificationRun.objects.get().started_by_label == "rita"


def test_a_verification_that_goes_on_shows_how_far_it_is(rita, monkeypatch):
    monkeypatch.setattr(verification_runs, "in_thread", lambda _work: None)
    sealed_log(2)
    rita.post(reverse("admin:toolpolicy_audit_verify"))
    VerificationRun.objects.update(done=1, last=4)
    page = home(rita)
    assert "Verifying block 1 of 4" in page
    assert '<progress max="100" value="25"' in page
    assert 'http-equiv="refresh"' in page
    assert "Verify everything" not in page


def test_evidence_is_three_clicks_away_and_proves_itself(rita, tmp_path):
    sealed_log(2)
    write_records(1, tool="other")
    # Home, the audit page, one button.
    assert reverse(HOME) in text_of(rita.get(reverse("admin:index")))
    answer = rita.post(reverse("admin:toolpolicy_audit_take"), {"form": "jsonl", "tool": "other"})
    name = r'attachment; filename="records-[0-9a-f]{8}-\d{8}-\d{6}-tool-other\.jsonl"'
    assert re.fullmatch(name, answer.headers["Content-Disposition"])
    file = tmp_path / "records.jsonl"
    file.write_bytes(b"".join(answer.streaming_content))
    program = tmp_path / "verify_bundle.py"
    program.write_bytes(rita.get(reverse("admin:toolpolicy_audit_program")).content)
    ended = subprocess.run([sys.executable, program, file], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["seq"] for line in lines if line["type"] == "record"] == [3]
    assert Record.objects.filter(kind="export", actor_label="rita").exists()


def test_an_export_that_would_hold_nothing_is_asked_about_first(rita):
    sealed_log(1)
    sent = {"form": "jsonl", "tool": "nowhere"}
    page = text_of(rita.post(reverse("admin:toolpolicy_audit_take"), sent))
    assert "No record is as you ask" in page
    assert 'name="empty"' in page
    assert not Record.objects.filter(kind="export").exists()
    answer = rita.post(reverse("admin:toolpolicy_audit_take"), {**sent, "empty": "on"})
    assert "attachment" in answer.headers["Content-Disposition"]
    assert 'name="empty"' not in home(rita)


def test_an_export_is_narrowed_by_outcome(rita):
    sealed_log(1)
    write_records(1, outcome="deny", tool="other")
    answer = rita.post(reverse("admin:toolpolicy_audit_take"), {"form": "csv", "outcome": "deny"})
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert len(lines) == 2
    assert "other" in lines[1]


def test_begin_and_end_of_an_export_are_told_apart_with_filter_and_count(rita):
    sealed_log(2)
    write_records(1, tool="other")
    answer = rita.post(reverse("admin:toolpolicy_audit_take"), {"form": "csv", "tool": "other"})
    b"".join(answer.streaming_content)
    page = home(rita)
    assert "begins to take records away as csv: tool <code>other</code></td>" in page
    assert "took records away as csv (tool <code>other</code>): 1 record, " in page
    labels = Record.objects.filter(kind="export").values_list("object_label", flat=True)
    assert len(set(labels)) == 2


def test_the_newest_verification_is_shown_whoever_ran_it(
    rita, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(verification_runs, "in_thread", lambda work: work())
    assert "Nobody has verified the log yet." in home(rita)
    first, _ = sealed_log(2)
    with django_capture_on_commit_callbacks(execute=True):
        rita.post(reverse("admin:toolpolicy_audit_verify"))
    assert "what was new, rita, " in home(rita)
    call_command("audit", "verify", "--full", stdout=StringIO())
    page = home(rita)
    assert "from the first record on, audit command, " in page
    assert re.search(r"<li>verified \d+ records: the log is good</li>", page)
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_record SET tool = 'x' WHERE id = %s", [first])
    with pytest.raises(SystemExit):
        call_command("audit", "verify", "--full", stdout=StringIO())
    page = home(rita)
    assert "<b>broken</b>" in page
    assert "The log is broken." in page


def test_a_repair_is_told_with_its_note_beside_the_break(rita):
    first, *_ = sealed_log(2)
    assert "Repaired" not in home(rita)
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_record SET tool = 'x' WHERE id = %s", [first])
    with pytest.raises(SystemExit):
        call_command("audit", "verify", "--full", stdout=StringIO())
    call_command("audit", "repair", note="changed by <hand>; ticket 4711", stdout=StringIO())
    page = home(rita)
    assert "The log is broken.</b> The verification below says where. What was closed" in page
    assert "closed segment 1 of the log: changed by &lt;hand&gt;; ticket 4711; audit comm" in page
    with pytest.raises(SystemExit):
        call_command("audit", "verify", "--full", stdout=StringIO())
    assert "<li>segment 1 was closed: changed by &lt;hand&gt;; ticket 4711</li>" in home(rita)


def test_it_says_where_the_checkpoint_file_is(rita, settings, tmp_path):
    values = replace(settings.TOOLPOLICY, checkpoint_file=f"{tmp_path}/{{log}}.jsonl")
    settings.TOOLPOLICY = values
    sealed_log(1)
    checkpoints.tell(at_once=True)
    [file] = tmp_path.iterdir()
    assert f"<code>{file}</code>" in home(rita)


def test_a_verification_that_has_read_nothing_yet_counts_no_blocks(rita, monkeypatch):
    monkeypatch.setattr(verification_runs, "in_thread", lambda _work: None)
    sealed_log(1)
    rita.post(reverse("admin:toolpolicy_audit_verify"))
    page = home(rita)
    assert "The verification begins …" in page
    assert "block 0 of 0" not in page


def test_a_table_that_should_prove_something_is_refused_beside_the_form(rita):
    sealed_log(1)
    sent = {"form": "csv", "complete": "on", "agent": "kept"}
    page = text_of(rita.post(reverse("admin:toolpolicy_audit_take"), sent))
    assert "A table proves nothing: only a bundle can be complete" in page
    assert 'value="kept"' in page


def test_the_program_that_checks_bundles_can_be_taken(rita):
    answer = rita.get(reverse("admin:toolpolicy_audit_program"))
    assert "verify_bundle.py" in answer.headers["Content-Disposition"]


def test_a_timeline_tells_day_by_day_and_pages_by_key(rita, monkeypatch):
    monkeypatch.setattr("toolpolicy.admin.auditing.timeline.SIZE", 2)
    write_records(3, agent="coder", tool="read")
    address = reverse("admin:toolpolicy_timeline")
    page = text_of(rita.get(address, {"about": "agent", "name": "coder"}))
    assert page.count("<td>coder</td>") == 2
    before = Record.objects.order_by("-pk")[1].pk
    assert f"before={before}" in page
    rest = text_of(rita.get(address, {"about": "agent", "name": "coder", "before": before}))
    assert rest.count("<td>coder</td>") == 1
    assert "Nothing found" in text_of(rita.get(address, {"about": "agent", "name": "other"}))


def test_a_timeline_says_which_answers_were_simulated(rita):
    make_rule(make_layer("house"), id="no-mail", match={"name": "mail"})
    for dry_run in (False, True):
        decide("mail", context={"agent": "coder"}, dry_run=dry_run)
    page = text_of(
        rita.get(reverse("admin:toolpolicy_timeline"), {"about": "agent", "name": "coder"})
    )
    rows = [row for row in page.split("<tr>") if "house / no-mail" in row]
    assert ["simulation" in row for row in rows] == [True, False]
    assert all("Denied" in row for row in rows)


def test_a_timeline_says_of_a_change_what_was_done_and_its_name_once(rita):
    layer = make_layer("agent: coders")
    rule = make_rule(layer, id="main-is-protected", match={"name": "push"})
    policies.update_rule(
        actor=SYSTEM, rule=rule.pk, version=layer.version, values={"enabled": False}
    )
    sent = {"about": "layer", "name": "agent: coders"}
    page = text_of(rita.get(reverse("admin:toolpolicy_timeline"), sent))
    rule_told = "the rule <code>main-is-protected</code> of the layer <code>agent: coders</code>"
    assert f"changed {rule_told}" in page
    assert f"added {rule_told}" in page
    assert "agent: coders / main-is-protected" not in page


def test_a_timeline_asks_the_same_of_one_change_and_of_many(rita):
    def queries() -> int:
        sent = {"about": "layer", "name": "base"}
        with CaptureQueriesContext(connection) as asked:
            text_of(rita.get(reverse("admin:toolpolicy_timeline"), sent))
        return len(asked)

    layer = make_layer("base")
    queries()
    few = queries()
    for number in range(5):
        make_rule(layer, match={"name": f"n{number}"})
    assert queries() == few


@pytest.mark.parametrize("sent", [{"about": "moon", "name": "x"}, {"name": "x", "before": "-1"}])
def test_a_timeline_of_nothing_that_exists_says_what_is_wrong(rita, sent):
    page = text_of(rita.get(reverse("admin:toolpolicy_timeline"), sent))
    assert "errorlist" in page


def test_the_page_asks_the_same_number_of_queries_at_one_record_and_at_many(rita):
    sealed_log(1)
    home(rita)
    with CaptureQueriesContext(connection) as few:
        home(rita)
    sealed_log(20, 5)
    with CaptureQueriesContext(connection) as many:
        home(rita)
    assert len(many) == len(few)


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_two_columns_have_one_heading(rita, language):
    sealed_log(1)
    taken = rita.post(reverse("admin:toolpolicy_audit_take"), {"form": "jsonl"})
    assert b"".join(taken.streaming_content)
    page = text_of(rita.get(reverse(HOME), headers={"accept-language": language}))
    acts = page.partition("h-acts")[2]
    headings = re.findall(r'<th scope="col">([^<]+)</th>', acts)
    assert len(headings) == 4
    assert len(set(headings)) == 4
