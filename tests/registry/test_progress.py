"""Long imports say what they are doing on a terminal, and nowhere else."""

import io
import json
import time
from pathlib import Path
from pkgutil import resolve_name

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper

from tests.registry.samples import ADMIN, named, tool
from toolpolicy.management import progress
from toolpolicy.management.progress import Progress
from toolpolicy.services import registry

TERMINAL = {"verbosity": 1, "json": False}


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self) -> bool:
        return True

    def waits_for(self, text: str) -> None:
        """Wait until the text was drawn; it is drawn by another thread."""
        end = time.monotonic() + 30
        while text not in self.getvalue():
            assert time.monotonic() < end, self.getvalue()
            time.sleep(0.001)

    @property
    def left(self) -> str:
        """What stands on the line in the end."""
        line: list[str] = []
        for text in self.getvalue().split("\r"):
            line[: len(text)] = text
        return "".join(line).rstrip()


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0)
    monkeypatch.setattr(progress, "EVERY", 0.001)


def test_a_line_says_what_is_done_and_for_how_long_and_is_gone_in_the_end(at_once):
    terminal = Terminal()
    with Progress(OutputWrapper(terminal), TERMINAL) as tell:
        tell("comparing 9 of 10")
        terminal.waits_for("\rcomparing 9 of 10 … 0 s")
        tell("writing")
        terminal.waits_for("\rwriting … 0 s")
        assert terminal.left.startswith("writing … 0 s")
        assert "comparing" not in terminal.left
    assert terminal.left == ""
    assert terminal.getvalue().endswith("\r")
    assert "\n" not in terminal.getvalue()


def test_a_line_is_no_longer_than_the_terminal_is_wide(at_once, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Terminal()
    with Progress(OutputWrapper(terminal), TERMINAL) as tell:
        tell("reading " + "x" * 100)
        terminal.waits_for("reading xxx")
    assert max(map(len, terminal.getvalue().split("\r"))) == 19


@pytest.mark.parametrize(
    ("stream", "options"),
    [
        (io.StringIO, TERMINAL),
        (Terminal, TERMINAL | {"json": True}),
        (Terminal, TERMINAL | {"verbosity": 0}),
    ],
)
def test_nothing_is_said_where_nobody_looks(at_once, stream, options):
    out = stream()
    with Progress(OutputWrapper(out), options) as tell:
        tell("reading")
        time.sleep(0.05)
    assert out.getvalue() == ""


def test_what_ends_within_a_second_says_nothing():
    terminal = Terminal()
    with Progress(OutputWrapper(terminal), TERMINAL) as tell:
        tell("reading")
    assert terminal.getvalue() == ""


def test_the_line_is_gone_before_an_error_is_told(at_once):
    terminal = Terminal()

    def work() -> None:
        with Progress(OutputWrapper(terminal), TERMINAL) as tell:
            tell("reading")
            terminal.waits_for("reading")
            raise CommandError("no")

    with pytest.raises(CommandError):
        work()
    assert terminal.left == ""


@pytest.mark.django_db
def test_an_import_tells_of_each_step_and_of_each_tool_that_it_compares():
    def told(document) -> list[str]:
        steps: list[str] = []
        registry.import_tools(actor=ADMIN, family="box", document=document, tell=steps.append)
        return steps

    assert told(named("run", "stop")) == ["checking the list", "writing 2 new and 0 changed tools"]
    changed = {"tools": [tool("run", title="A"), tool("stop", title="B"), tool("wait")]}
    assert told(changed) == [
        "checking the list",
        "comparing changed tools, 1 of 2",
        "comparing changed tools, 2 of 2",
        "writing 1 new and 2 changed tools",
    ]


@pytest.mark.django_db
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("command", "document", "service", "told"),
    [
        (
            ("tools", "import", "file.json", "--family", "box"),
            named("run"),
            "toolpolicy.services.registry.import_tools",
            "reading file.json",
        ),
        (
            ("policy", "import", "file.json"),
            [{"name": "a"}],
            "toolpolicy.management.commands.policy.import_text",
            "comparing file.json with the policy",
        ),
    ],
    ids=["tools", "policy"],
)
def test_both_imports_draw_the_line_and_answer_as_ever(
    tmp_path, monkeypatch, command, document, service, told
):
    monkeypatch.chdir(tmp_path)
    Path("file.json").write_text(json.dumps(document), encoding="utf-8")
    terminal, work = Terminal(), resolve_name(service)

    def slow(**values):
        terminal.waits_for(told)
        return work(**values)

    monkeypatch.setattr(service, slow)
    out = io.StringIO()
    call_command(*command, stdout=out, stderr=terminal)
    assert (terminal.left, "1 " in out.getvalue()) == ("", True)
    monkeypatch.setattr(service, work)
    quiet = Terminal()
    call_command(*command, "--json", stdout=io.StringIO(), stderr=quiet)
    assert quiet.getvalue() == ""
