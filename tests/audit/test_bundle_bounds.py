"""How much a bundle may make the verifier keep, and read: no forged one eats memory or time.

Anyone can seal with a key of their own, so all of these are signed.
"""

import json

import pytest

from tests.audit.bundles import Log, canonical, judged, written
from toolpolicy.audit import sealer, verify_bundle

pytestmark = pytest.mark.usefixtures("signatures_once")


@pytest.mark.parametrize("count", [verify_bundle.FULL, verify_bundle.FULL + 1])
def test_a_block_of_more_records_than_any_has_is_none(tmp_path, count):
    assert sealer.MOST == verify_bundle.FULL
    log = Log()
    log.record()
    log.seal()
    lines = log.bundle(complete=True)
    n = next(n for n, line in enumerate(lines) if line["type"] == "block")
    block = canonical({**json.loads(lines[n]["block"]), "count": count})
    lines[n] = {**lines[n], "block": block, "signature": log.key.sign(block)}
    found = judged(tmp_path, written(lines))
    assert found["exit"] == 1
    assert (found["what"] == "no block") is (count > verify_bundle.FULL)


@pytest.mark.parametrize(("size", "exit_code"), [(60_000, 0), (70_000, 1)])
def test_a_header_that_no_columns_can_hold_is_none(tmp_path, size, exit_code):
    log = Log()
    log.record(rule="x" * size)
    log.seal()
    found = judged(tmp_path, written(log.bundle(complete=True)))
    assert found["exit"] == exit_code
    assert ("no header" in found["what"]) is bool(exit_code)


def test_only_so_many_checkpoints_are_looked_at(tmp_path):
    log = Log()
    log.record()
    log.seal()
    *lines, told = log.bundle()
    few = judged(tmp_path, written([*lines, *[told] * verify_bundle.MOST]))
    many = judged(tmp_path, written([*lines, *[told] * (verify_bundle.MOST + 2)]))
    assert [few["exit"], many["exit"]] == [0, 1]
    assert many["what"].endswith("comes too late")


def test_a_checkpoint_of_a_block_in_which_a_record_is_broken_is_not_called_another(tmp_path):
    log = Log()
    log.record(agent="support-bot")
    log.seal()
    whole = written(log.bundle({"agent": "support-bot"}))
    assert judged(tmp_path, whole)["exit"] == 0
    found = judged(tmp_path, whole.replace(b',"support-bot",', b',"support-bat",'))
    assert [one["what"] for one in found["breaks"]] == [
        "its header or proof is not as sealed",
        "its bytes are not those that its last line was made for",
    ]
