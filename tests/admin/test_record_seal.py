"""The page of a record says where it stands in the log, and gives it away with its proof."""

import json
import re
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http.response import StreamingHttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.admin.pages import signed_in, staff, text_of
from tests.admin.recorded import page_of
from tests.audit.logs import sealed_log, tampering, write_records
from toolpolicy.audit.blocks import parse
from toolpolicy.audit.waiting import SETTLED
from toolpolicy.models import Block, Record

pytestmark = pytest.mark.django_db
TAKE = reverse("admin:toolpolicy_audit_take")


@pytest.fixture
def rita(db):
    return signed_in(staff("rita", groups=("auditor",)))


def card(client: Any, pk: int) -> str:
    page = text_of(client.get(page_of(Record.objects.get(pk=pk))))
    [found] = re.findall(r'<section[^>]*aria-labelledby="h-seal">(.*?)</section>', page, re.DOTALL)
    return str(found)


def test_a_sealed_record_says_number_block_time_and_key_and_that_its_proof_checks(rita):
    ids = sealed_log(3, 2)
    block = Block.objects.get(number=2)
    shown = card(rita, ids[4])
    assert "<dt>Number in the log</dt><dd>5</dd>" in shown
    assert "<dt>Block</dt><dd>2</dd>" in shown
    assert f"<code>{parse(block.text).key}</code>" in shown
    assert f"{block.at:%Y-%m-%d %H:%M:%S}" in shown
    assert "The proof checks: record, path and the signature over the block fit" in shown
    assert f'href="{reverse("admin:toolpolicy_audit")}"' in shown


def test_one_that_waits_says_so_and_one_that_waits_too_long_is_a_warning(rita):
    sealed_log(1)
    (pk,) = write_records(1)
    assert "Not sealed yet." in card(rita, pk)
    with tampering() as cursor:
        at = Record.objects.get(pk=pk).at - SETTLED - timedelta(seconds=1)
        cursor.execute("UPDATE toolpolicy_record SET at = %s WHERE id = %s", [at, pk])
    assert "<b>Not sealed</b>, though it should have been long ago" in card(rita, pk)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE toolpolicy_record SET outcome = 'deny' WHERE id = %s", "is not what was sealed"),
        ("UPDATE toolpolicy_block SET signature = '00' WHERE %s > 0", "not as it was signed"),
        ("DELETE FROM toolpolicy_block WHERE %s > 0", "the block that held the record is missing"),
    ],
)
def test_a_proof_that_does_not_check_is_a_warning(rita, change, told):
    (pk, _) = sealed_log(2)
    with tampering() as cursor:
        cursor.execute(change, [pk])
    shown = card(rita, pk)
    assert "The proof does not check" in shown
    assert told in shown
    assert "fit together" not in shown


@pytest.mark.parametrize("sealed", [True, False])
def test_it_is_taken_with_its_proof_in_one_click_and_checks_elsewhere(rita, tmp_path, sealed):
    pk = sealed_log(2, 3)[3] if sealed else write_records(3)[1]
    shown = card(rita, pk)
    [form] = re.findall(r"<form.*?</form>", shown, re.DOTALL)
    assert f'method="post" action="{TAKE}"' in form
    sent = dict(re.findall(r'name="(uid|form)" value="([^"]+)"', form))
    assert sent == {"uid": str(Record.objects.get(pk=pk).uid), "form": "jsonl"}
    answer = rita.post(TAKE, sent)
    assert isinstance(answer, StreamingHttpResponse)
    file, program = tmp_path / "records.jsonl", tmp_path / "verify_bundle.py"
    file.write_bytes(answer.getvalue())
    program.write_bytes(rita.get(reverse("admin:toolpolicy_audit_program")).content)
    ended = subprocess.run([sys.executable, program, file], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    records = [line["header"][1] for line in lines if line["type"] == "record"]
    assert records == [sent["uid"]]


def test_who_may_not_take_it_reads_the_same_and_is_offered_nothing():
    (pk,) = sealed_log(1)
    reader = card(signed_in(staff("ina", groups=("audit reader",))), pk)
    author = card(signed_in(staff("ada", groups=("author",))), pk)
    assert "The proof checks" in reader
    assert "The proof checks" in author
    assert "<form" not in reader
    assert "takes the right to read what callers sent" in reader
    assert "<form" not in author
    assert "href" not in re.sub(r"<use [^>]*>", "", author)


def test_the_page_asks_the_same_number_of_queries_in_a_short_log_and_in_a_long_one(rita):
    counted = []
    for size in (2, 2, 40):
        pk = sealed_log(size)[-2]
        with CaptureQueriesContext(connection) as asked:
            card(rita, pk)
        counted.append(len(asked))
    assert counted[1] == counted[2]
