"""What holds for the tests of the engine."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest


@pytest.fixture(scope="module", autouse=True)
def _a_failing_case_is_printed() -> Iterator[None]:
    """Give Hypothesis its printer back, which the plugin of Schemathesis takes away."""
    with pytest.MonkeyPatch.context() as patch:
        if find_spec("hypothesis"):
            from hypothesis import core  # noqa: PLC0415  (absent without the tools)
            from hypothesis.vendor.pretty import RepresentationPrinter  # noqa: PLC0415

            patch.setattr(core, "RepresentationPrinter", RepresentationPrinter)
        yield
