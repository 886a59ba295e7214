"""Random logs and filters: every bundle is good, and with any byte of it changed none is."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django.db import transaction
from django.test import override_settings
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.audit.logs import write_records
from tests.audit.taking import lines_of, prune, records_of, taken
from tests.factories import SYSTEM
from toolpolicy.audit import sealer, verify_bundle
from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.signing import is_seed
from toolpolicy.models import Leaf, Record
from toolpolicy.services import sealing
from toolpolicy.services.record_filters import parse

TOOLS = ("a", "b", "")
OUTCOMES = ("allow", "deny")
# Fewer cases than of a pure law: each one is some hundred statements.
in_one_database = settings(
    max_examples=max(10, settings().max_examples // 20),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
write = st.tuples(st.just("write"), st.sampled_from(TOOLS), st.sampled_from(OUTCOMES))
others = st.sampled_from([("seal",), ("silence",), ("rotate",), ("prune", 2), ("prune", 5)])
logs = st.lists(st.one_of(write, write, others), min_size=1, max_size=12)
wanted = st.fixed_dictionaries(
    {},
    optional={
        "tool": st.sampled_from(TOOLS),
        "outcome": st.sampled_from(OUTCOMES),
        "kind": st.sampled_from(("decision", "export", "prune")),
        "first": st.integers(1, 8),
        "last": st.integers(8, 14),
    },
)


def run(steps: Sequence[Any]) -> None:
    """Write a log; a key that seals from some step on stays in the settings."""
    for number, step in enumerate(steps):
        match step:
            case ("write", tool, outcome):
                write_records(2, tool=tool, outcome=outcome)
            case ("seal",):
                sealer.seal_all()
            case ("silence",):
                sealer.give_sign_of_life(timedelta())
            case ("prune", count):
                sealer.seal_all()
                prune(1, count)
            case ("rotate",):
                seed = f"{number:064x}"
                assert is_seed(seed)
                sealing.rotate(actor=SYSTEM, seed=seed)
                project.TOOLPOLICY_SEAL_KEY = seed
            case _:
                raise AssertionError(step)


def verdict(bundle: bytes, path: Path) -> dict[str, Any]:
    path.write_bytes(bundle)
    found: dict[str, Any] = verify_bundle.verify(str(path), "", [])
    return found


def asked_for(members: dict[str, Any], head: int) -> list[int]:
    """Return the numbers of the sealed records that a filter asks for, found one by one."""
    wanted = parse(members)
    rows = Record.objects.values_list("leaf__seq", *COLUMNS).filter(leaf__seq__lte=head)
    return sorted(seq for seq, *row in rows if wanted.asks_for(row, seq))


@pytest.mark.django_db
@in_one_database
@given(steps=logs, members=wanted, complete=st.booleans())
def test_a_bundle_has_what_is_asked_for_and_is_good(tmp_path, steps, members, complete):
    with transaction.atomic(), override_settings():
        run(steps)
        bundle = taken(complete=complete, **members)
        head = Leaf.objects.latest("seq").seq
        assert records_of(bundle) == asked_for(members, head)
        found = verdict(bundle, tmp_path / "bundle")
        proves = complete or bool(records_of(bundle))
        assert found["exit"] == (0 if proves else 2), found
        transaction.set_rollback(True)


@pytest.mark.any_database
@pytest.mark.django_db
@in_one_database
@example(steps=[("seal",)], members={}, complete=False, place=1 - 2**-53, flip=3)
@given(
    steps=logs,
    members=wanted,
    complete=st.booleans(),
    place=st.floats(0, 1, exclude_max=True),
    flip=st.integers(1, 255),
)
def test_with_any_byte_changed_no_bundle_is_good(tmp_path, steps, members, complete, place, flip):
    with transaction.atomic(), override_settings():
        run(steps)
        changed = bytearray(taken(complete=complete, **members))
        transaction.set_rollback(True)
    changed[int(place * len(changed))] ^= flip
    found = verdict(bytes(changed), tmp_path / "bundle")
    assert found["exit"] in (1, 2), found


@pytest.mark.any_database
@pytest.mark.django_db
@in_one_database
@given(steps=logs, complete=st.booleans(), place=st.floats(0, 1, exclude_max=True))
def test_no_bundle_that_lacks_a_line_is_good(tmp_path, steps, complete, place):
    with transaction.atomic(), override_settings():
        run(steps)
        lines = taken(complete=complete).splitlines(keepends=True)
        transaction.set_rollback(True)
    assert lines_of(b"".join(lines), "end")
    del lines[int(place * len(lines))]
    assert verdict(b"".join(lines), tmp_path / "bundle")["exit"] in (1, 2)
