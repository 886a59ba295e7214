"""What holds for the whole suite: seeds, profiles of the laws, and which tests run."""

import os
import re
import secrets
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.test import TransactionTestCase
from django.utils import translation

from tests.reset import _transactional_tests_reset_the_database  # noqa: F401  (a fixture for all)

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
# How many cases each law is tried on, here and on the build server.
CASES_HERE = 200
CASES_IN_CI = 5000
SEED = int(os.environ.get("TOOLPOLICY_SEED") or secrets.randbelow(2**32))
# Tools of requirements-dev.txt; tests that import one are left out where it is missing.
OPTIONAL_TOOLS = ("hypothesis", "playwright", "schemathesis")
MISSING_TOOLS = [tool for tool in OPTIONAL_TOOLS if find_spec(tool) is None]
UNUSABLE = [*MISSING_TOOLS, *(["tests.strategies"] if "hypothesis" in MISSING_TOOLS else [])]
DATABASE_FIXTURES = {"db", "transactional_db", "admin_client", "admin_user", "live_server"}


@pytest.fixture(autouse=True)
def _no_test_leaves_its_language_behind() -> Iterator[None]:
    """Forget the language of the last request, which a thread keeps until its next one."""
    yield
    translation.deactivate()


def law_cases() -> int:
    return int(os.environ.get("TOOLPOLICY_LAW_CASES") or (CASES_IN_CI if IN_CI else CASES_HERE))


def register_profile() -> None:
    """Set the laws' profile: a slow machine is no fault, and every run has its own seed.

    Hypothesis itself would give a build server the same cases each time.
    """
    # Absent where only requirements.txt is installed.
    from hypothesis import HealthCheck, settings  # noqa: PLC0415

    settings.register_profile(
        "laws",
        max_examples=law_cases(),
        deadline=None,
        derandomize=False,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("laws")


@pytest.fixture(autouse=True)
def _another_writer() -> None:
    """Begin with a writer of its own: a test that was rolled back may have settled its numbers."""
    # Models cannot be imported before Django is set up.
    from tests.audit.logs import begin_as_another_writer  # noqa: PLC0415

    begin_as_another_writer()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--only-db", action="store_true", help="run only the tests whose outcome is the database's"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if IN_CI and MISSING_TOOLS:
        pytest.exit(f"missing here: {', '.join(MISSING_TOOLS)}; run `make venv`", returncode=4)
    if "hypothesis" not in MISSING_TOOLS:
        register_profile()
        if config.option.hypothesis_seed is None:
            config.option.hypothesis_seed = str(SEED)
    if getattr(config.option, "randomly_seed", None) == "default":
        config.option.randomly_seed = SEED


def pytest_report_header(config: pytest.Config) -> list[str]:
    lines = [f"laws: {law_cases()} cases each; repeat this run with TOOLPOLICY_SEED={SEED}"]
    if MISSING_TOOLS:
        lines.append(f"LEFT OUT: every test that needs {', '.join(MISSING_TOOLS)}; `make venv`")
    return lines


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if not MISSING_TOOLS or collection_path.suffix != ".py":
        return None
    needs = re.compile(rf"^(from|import) ({'|'.join(UNUSABLE)})\b", re.MULTILINE)
    return bool(needs.search(collection_path.read_text(encoding="utf-8"))) or None


def depends_on_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    # What a browser makes of a page is the same; what stands in it has tests without a browser.
    if "browser" in fixtures or item.get_closest_marker("any_database") is not None:
        return False
    case = getattr(item, "cls", None)
    return (
        item.get_closest_marker("django_db") is not None
        or bool(fixtures & DATABASE_FIXTURES)
        or (case is not None and issubclass(case, TransactionTestCase))
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.only_db:
        return
    kept = {item: depends_on_database(item) for item in items}
    config.hook.pytest_deselected(items=[item for item, keeps in kept.items() if not keeps])
    items[:] = [item for item, keeps in kept.items() if keeps]
