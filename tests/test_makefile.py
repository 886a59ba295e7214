"""The commands of every day, where what they are given is wrong."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKE = shutil.which("make") or "make"


@pytest.mark.parametrize("host", ["http://127.0.0.1:8000", "127.0.0.1:8000", ""])
def test_an_address_that_is_none_is_said_before_anything_is_installed(host):
    told = subprocess.run(
        [MAKE, "run"],
        cwd=ROOT,
        env={**os.environ, "HOST": host},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert told.returncode != 0
    assert told.stdout.startswith(f"HOST is {host}, which is no address to serve on")
