"""What the tests of the verifier share."""

from typing import Any

import pytest

from toolpolicy.audit.verify_bundle import PublicKey

SIGNED, KNOWN = PublicKey.signed, dict[Any, bool]()


@pytest.fixture
def signatures_once(monkeypatch):
    """Work each signature out once: thousands of bundles differ in one value each."""

    def signed(key, text, signature):
        asked = (key.raw, text, str(signature))
        if asked not in KNOWN:
            KNOWN[asked] = SIGNED(key, text, signature)
        return KNOWN[asked]

    monkeypatch.setattr(PublicKey, "signed", signed)
