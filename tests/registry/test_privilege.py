"""Privilege by argument: the highest level that matches, and what cannot be read counts highest."""

import pytest

from toolpolicy.engine.faults import Faults
from toolpolicy.engine.privilege import parse_privilege, permission_of_call
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.engine.words import Permission

PRIVILEGE = parse_privilege(
    [
        {"pointer": "/action", "patterns": ["write*", "put"], "level": "Write"},
        {"pointer": "/action", "patterns": "delete*", "level": "Dangerous"},
        {"pointer": "/shell", "patterns": "true", "level": "Execute"},
    ]
)


def level(args, permission: Permission | None = Permission.READ_ONLY) -> Permission:
    return permission_of_call(PRIVILEGE, Subject(name="box", permission=permission), args)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"action": "read"}, Permission.READ_ONLY),
        ({"action": "write_all"}, Permission.WRITE),
        ({"action": "PUT"}, Permission.WRITE),
        ({"action": "delete_all"}, Permission.DANGEROUS),
        ({"action": "put", "shell": True}, Permission.EXECUTE),
        ({"action": ["read", "delete_one"]}, Permission.DANGEROUS),
        ({"action": ["read", "list"]}, Permission.READ_ONLY),
    ],
)
def test_the_highest_level_that_matches_counts(args, expected):
    assert level(args) is expected


@pytest.mark.parametrize("args", [{}, {"action": None}, None])
def test_an_argument_that_is_not_there_raises_nothing(args):
    assert level(args) is Permission.READ_ONLY


@pytest.mark.parametrize(
    "args", [ABSENT, "text", {"action": {}}, {"action": []}, {"action": ["read", None]}, 5]
)
def test_an_argument_that_cannot_be_read_counts_as_the_highest_level(args):
    assert level(args) is Permission.DANGEROUS


def test_it_is_never_below_the_tools_own_permission():
    assert level({"action": "put"}, Permission.EXECUTE) is Permission.EXECUTE


def test_an_unknown_permission_of_the_tool_counts_as_the_highest():
    assert level({"action": "read"}, None) is Permission.DANGEROUS


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({}, [""]),
        ([], [""]),
        ([5], ["/0"]),
        ([{}], ["/0", "/0", "/0"]),
        ([{"pointer": 1, "patterns": "*", "level": "Write"}], ["/0/pointer"]),
        ([{"pointer": "/a", "patterns": 5, "level": "Write"}], ["/0/patterns"]),
        ([{"pointer": "/a", "patterns": "*", "level": "write"}], ["/0/level"]),
        ([{"pointer": "/a", "patterns": "*", "level": "Write", "x": 1}], ["/0/x"]),
        ([{"pointer": "/a", "patterns": ["x"] * 1001, "level": "Write"}], ["/0/patterns"]),
    ],
)
def test_a_bad_declaration_is_refused_with_every_place(document, pointers):
    with pytest.raises(Faults) as refused:
        parse_privilege(document)
    assert [fault.pointer for fault in refused.value.faults] == pointers
