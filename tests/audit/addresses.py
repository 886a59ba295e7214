"""The database of a test, for programs that it starts."""

import os
import subprocess
import sys
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]


def address(folder: Path) -> str:
    """Return the address of the test's database; of a file in a folder where that is in memory."""
    if connection.vendor == "sqlite":
        return f"sqlite:///{folder}/trial.sqlite3"
    of = connection.settings_dict
    return f"postgresql://{of['USER']}:{of['PASSWORD']}@{of['HOST']}:{of['PORT']}/{of['NAME']}"


def said_by(folder: Path, *words: str) -> str:
    """Run Python with these words on that database and return what it writes."""
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": address(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ended.stdout, ended.stderr
    return ended.stdout
