"""The program that checks a bundle: one file, to be run anywhere without this product."""

from pathlib import Path
from typing import Final

from toolpolicy import audit

NAME: Final = "verify_bundle.py"


def source() -> bytes:
    """Return the file as it is installed."""
    return (Path(audit.__path__[0]) / NAME).read_bytes()
