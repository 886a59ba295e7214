"""The engine stands alone: no Django, no clock, and its examples run as they are written."""

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import toolpolicy.engine

FOLDER = Path(toolpolicy.engine.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
MODULES = ["toolpolicy.engine" + ("" if name == "__init__" else f".{name}") for name in NAMES]
# What would let a decision depend on anything but its inputs.
IMPURE = {"time", "os", "random", "secrets", "uuid", "socket", "io", "pathlib", "threading"}


def test_every_module_imports_in_a_fresh_process_where_django_cannot_be_imported():
    code = (
        "import importlib, sys\n"
        "for name in ('django', 'rest_framework', 'toolpolicy.models'): sys.modules[name] = None\n"
        f"for name in {MODULES!r}: importlib.import_module(name)\n"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('django', 'yaml')))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=FOLDER.parent.parent,
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.stdout, ended.stderr) == ("['django']\n", "")


@pytest.mark.parametrize("name", NAMES)
def test_no_module_reaches_for_a_clock_or_the_outside(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in (*node.names, ast.alias(getattr(node, "module", None) or ""))
    }
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert imported & IMPURE == set()
    assert called & {"now", "utcnow", "today"} == set()
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Global)]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_are_true(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_there_are_examples_in_the_docstrings():
    finder = doctest.DocTestFinder()
    found = [test for module in MODULES for test in finder.find(importlib.import_module(module))]
    assert sum(len(test.examples) for test in found) >= 10
