"""The list of mutations is not out of date: each still finds the one place that it breaks."""

import pytest

from tests.engine.mutations import ENGINE, ROOT, broken, mutations


@pytest.mark.parametrize(("module", "old", "new"), [*mutations()])
def test_a_mutation_breaks_one_place_and_leaves_a_program(module, old, new):
    source = (ROOT / ENGINE / f"{module}.py").read_text(encoding="utf-8")
    other = broken(source, old, new)
    assert other != source
    compile(other, module, "exec")
