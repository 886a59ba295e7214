"""Several processes that verify say what one says; one that fails is an error, never a good log."""

import json
from concurrent.futures.process import BrokenProcessPool

import pytest
from django.core.management import CommandError, call_command

from tests.audit import beside
from tests.audit.addresses import said_by
from tests.audit.logs import sealed_log
from toolpolicy.audit.verification import crew
from toolpolicy.audit.verification.whole import verify
from toolpolicy.services import sealing


def test_however_many_processes_read_the_log_the_same_is_found(tmp_path, transactional_db):
    said = json.loads(said_by(tmp_path, "-m", "tests.audit.beside"))
    assert said.pop("broken") == "BrokenProcessPool"
    (good, same), (bad, bad_too) = said["good"], said["bad"]
    assert (good["good"], good) == (True, same)
    assert bad == bad_too
    assert len(bad["findings"]) >= len(beside.HANDS)


@pytest.mark.django_db
def test_inside_a_transaction_one_process_reads_what_only_it_can_see(monkeypatch):
    monkeypatch.setattr(crew, "ALONE", 0)
    monkeypatch.setattr(crew, "ProcessPoolExecutor", None)
    sealed_log(2, 2)
    assert verify(full=True, processes=2).records == 4


@pytest.mark.django_db
def test_a_process_that_ends_before_its_time_ends_the_command_with_two(monkeypatch):
    def fail(**_given):
        raise BrokenProcessPool

    monkeypatch.setattr(sealing, "verify", fail)
    with pytest.raises(CommandError, match="nothing is said of the log") as ended:
        call_command("audit", "verify", "--full")
    assert ended.value.returncode == 2
