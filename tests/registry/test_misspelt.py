"""Members of a published tool that are nearly ones that are read: told of, and refused nothing."""

import pytest

from tests.registry.samples import imported, tool
from toolpolicy.engine.mcp import read_tools
from toolpolicy.engine.misspelt import Misspelt


def found(**members) -> list[tuple[str, str]]:
    (declaration,) = read_tools([{"name": "run", **members}], family="box")
    return list(declaration.slips)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"inputschema": {}}, [("inputschema", "inputSchema")]),
        ({"input_schema": {}}, [("input_schema", "inputSchema")]),
        ({"outputschema": {}}, [("outputschema", "outputSchema")]),
        ({"annotation": {}}, [("annotation", "annotations")]),
        (
            {"annotations": {"readonlyHint": True, "destructive": True}},
            [
                ("annotations.readonlyHint", "annotations.readOnlyHint"),
                ("annotations.destructive", "annotations.destructiveHint"),
            ],
        ),
        ({"inputSchema": {}, "outputSchema": {}, "annotations": {"readOnlyHint": True}}, []),
        ({"_meta": {}, "icons": [], "execution": {}, "x": 1, "annotations": {"x": 1}}, []),
        ({"annotations": None}, []),
    ],
)
def test_what_is_nearly_a_member_is_found_and_what_is_another_is_not(members, told):
    assert found(**members) == told


@pytest.mark.django_db
def test_an_import_warns_of_it_for_new_and_changed_tools_and_says_what_is_meant():
    slip = {"annotations": {"readonlyHint": True}}
    warning = {
        "name": "p_run",
        "message": "`box/p_run` says `annotations.readonlyHint`, which nobody reads; "
        "did you mean `annotations.readOnlyHint`",
    }
    for description, told in (("One.", [warning]), ("One.", []), ("Two.", [warning])):
        document = {"tools": [tool("run", description=description, **slip)]}
        for dry_run in (True, False):
            report = imported(document, prefix="p_", dry_run=dry_run)
            assert report.wire()["warnings"] == told


def test_a_member_that_upsets_a_terminal_is_shown_escaped():
    ((member, meant),) = found(**{"inputSchem\x1b": {}})
    assert str(Misspelt("box", "run", member, meant)).isprintable()
