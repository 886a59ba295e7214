"""Files for the commands to read."""

from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        Path(name).write_bytes(data)
        return name

    return write
