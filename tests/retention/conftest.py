"""Every log here was sealed before: it may hold records that speak of seals."""

from datetime import timedelta

import pytest

from toolpolicy.audit import sealer


@pytest.fixture(autouse=True)
def _sealed_before(db: None) -> None:
    """Begin with an empty block."""
    sealer.give_sign_of_life(timedelta())
