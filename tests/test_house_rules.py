"""Rules of the house that no linter knows."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MODULE = 300
LONGEST_FUNCTION = 30
# What an auditor takes along is one file: it cannot be split.
LONGER_MODULES = {"toolpolicy/audit/verify_bundle.py": 542}
MODULES = [
    path
    for package in ("toolpolicy", "project")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "migrations" not in path.parts
]
TEST_MODULES = sorted((ROOT / "tests").rglob("*.py"))
COMMANDS = [path.stem for path in MODULES if path.match("commands/[!_]*.py")]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines from `def` on; what its docstring explains costs nothing."""
    total = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_and_functions_stay_short(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LONGER_MODULES.get(name_of(path), LONGEST_MODULE)
    lengths = {node.name: lines_of_code(node) for node in functions(ast.parse(source))}
    assert {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("path", TEST_MODULES, ids=name_of)
def test_modules_of_tests_stay_short_without_exception(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def test_the_package_itself_stays_empty():
    assert (ROOT / "toolpolicy" / "__init__.py").read_bytes() == b""


def test_the_engine_s_readme_says_what_each_module_holds():
    told = (ROOT / "toolpolicy" / "engine" / "README.md").read_text(encoding="utf-8")
    modules = sorted((ROOT / "toolpolicy" / "engine").glob("[!_]*.py"))
    assert [path.name for path in modules if f"`{path.name}`" not in told] == []


def test_the_engine_imports_in_a_plain_process_without_django():
    code = "import sys, toolpolicy.engine; print('django' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.stdout, ended.stderr) == ("False\n", "")


def test_every_command_has_a_test_that_names_it():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    untested = [name for name in COMMANDS if not any(f'"{name}"' in text for text in texts)]
    assert untested == []
