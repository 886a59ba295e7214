"""Whether the suite would notice a broken engine: `python -m tests.engine.mutations`.

Each entry of `mutations.txt` breaks one line of a copy of the engine; its tests have to fail on it.
Prints which test noticed it, and ends with status 1 when more than one in twenty is noticed by
none. Options are handed to pytest (such as `-k "laws or vectors"`); without any it stops at the
first test that fails.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = Path("toolpolicy/engine")
COPIED = ("toolpolicy", "tests", "project", "pyproject.toml")
MOST_UNNOTICED = 0.05


def mutations() -> Iterator[tuple[str, str, str]]:
    """Yield (module, what stands there once, what is put in its place) of each entry."""
    module = ""
    text = (Path(__file__).parent / "mutations.txt").read_text(encoding="utf-8")
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        if block.startswith("# "):
            module = block.removeprefix("# ").removesuffix(".py")
            continue
        old, new = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
        yield module, old, new


def broken(source: str, old: str, new: str) -> str:
    """Return a source with one place broken. Raises LookupError unless it stands there once."""
    if source.count(old) != 1:
        message = f"stands there {source.count(old)} times: {old}"
        raise LookupError(message)
    return source.replace(old, new)


def noticed_by(copy: Path, *options: str) -> list[str]:
    """Run the tests of the engine in a copy; return the names of the tests that fail."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-showlocals"]
    tests = ("tests/engine", "--ignore", "tests/engine/test_mutations.py")
    ended = subprocess.run(
        [*command, *options, *tests],
        cwd=copy,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(
        r"^(?:FAILED|ERROR) \S*?(?:::)?(\S+?)(?: - .*)?$", ended.stdout, re.MULTILINE
    )
    return found or (["(ended early)"] if ended.returncode else [])


def main() -> int:
    options = sys.argv[1:] or ["-x"]
    tried, unnoticed = list(mutations()), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            place = ROOT / name
            (shutil.copytree if place.is_dir() else shutil.copy)(place, copy / name)
        for module, old, new in tried:
            target = copy / ENGINE / f"{module}.py"
            whole = target.read_text(encoding="utf-8")
            target.write_text(broken(whole, old, new), encoding="utf-8")
            names = noticed_by(copy, *options)
            target.write_text(whole, encoding="utf-8")
            said = ", ".join(names) or "NOTHING"
            sys.stdout.write(f"{module}: {old.strip()} -> {new.strip()}\n    {said}\n")
            sys.stdout.flush()
            unnoticed += not names
    sys.stdout.write(f"{len(tried) - unnoticed} of {len(tried)} mutations noticed\n")
    return int(unnoticed > MOST_UNNOTICED * len(tried))


if __name__ == "__main__":
    sys.exit(main())
