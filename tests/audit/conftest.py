"""What every test of the log begins with, and what the tests of the verifier share."""

from typing import Any

import pytest

from tests.audit.logs import begin_as_another_writer
from toolpolicy.audit.verify_bundle import PublicKey

SIGNED, KNOWN = PublicKey.signed, dict[Any, bool]()


@pytest.fixture(autouse=True)
def _another_writer():
    """Begin with a writer of its own: a test that was rolled back may have settled its numbers."""
    begin_as_another_writer()


@pytest.fixture
def signatures_once(monkeypatch):
    """Work each signature out once: thousands of bundles differ in one value each."""

    def signed(key, text, signature):
        asked = (key.raw, text, str(signature))
        if asked not in KNOWN:
            KNOWN[asked] = SIGNED(key, text, signature)
        return KNOWN[asked]

    monkeypatch.setattr(PublicKey, "signed", signed)
