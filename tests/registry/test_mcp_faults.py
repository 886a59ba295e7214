"""Tool lists that are refused: every fault is named with its pointer, nothing is read by halves."""

import pytest

from tests.registry.samples import named, tool
from tests.timing import assert_within
from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.mcp import read_tools


def faults_of(document, **place) -> list[tuple[str, str]]:
    with pytest.raises(Faults) as refused:
        read_tools(document, **{"family": "box", **place})
    return [(fault.pointer, fault.code) for fault in refused.value.faults]


@pytest.mark.parametrize("document", [None, 1, 1.5, "tools", True])
def test_what_is_no_list_is_refused(document):
    assert faults_of(document) == [("", "invalid")]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, ("", "missing")),
        ({"tool": []}, ("", "missing")),
        ({"tools": {}}, ("/tools", "invalid")),
        ({"tools": None}, ("/tools", "invalid")),
        ({"result": None}, ("/result", "invalid")),
        ({"result": []}, ("/result", "invalid")),
        ({"result": {}}, ("/result", "missing")),
        ({"error": {"code": -32601, "message": "no such method"}}, ("/error", "invalid")),
        ({"tools": [], "nextCursor": "page2"}, ("/nextCursor", "incomplete")),
        ({"result": {"tools": [], "nextCursor": ""}}, ("/result/nextCursor", "incomplete")),
    ],
)
def test_a_wrong_wrapper_is_named(document, expected):
    assert faults_of(document) == [expected]


def test_an_empty_list_and_a_null_cursor_are_whole():
    assert read_tools({"tools": [], "nextCursor": None}, family="box") == ()


@pytest.mark.parametrize("item", [None, 1, "run", [], True])
def test_a_tool_that_is_no_object_is_named(item):
    assert faults_of([tool("run"), item]) == [("/1", "invalid")]


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"name": 5}, "/0/name"),
        ({"name": None}, "/0/name"),
        ({"title": 5}, "/0/title"),
        ({"title": "x" * 201}, "/0/title"),
        ({"description": ["text"]}, "/0/description"),
        ({"inputSchema": True}, "/0/inputSchema"),
        ({"inputSchema": "object"}, "/0/inputSchema"),
        ({"outputSchema": []}, "/0/outputSchema"),
        ({"annotations": []}, "/0/annotations"),
        ({"annotations": {"title": 1}}, "/0/annotations/title"),
        ({"annotations": {"title": "x" * 201}}, "/0/annotations/title"),
        ({"annotations": {"readOnlyHint": "true"}}, "/0/annotations/readOnlyHint"),
        ({"annotations": {"readOnlyHint": 1}}, "/0/annotations/readOnlyHint"),
        ({"annotations": {"destructiveHint": {}}}, "/0/annotations/destructiveHint"),
        ({"annotations": {"idempotentHint": 0}}, "/0/annotations/idempotentHint"),
        ({"annotations": {"openWorldHint": "no"}}, "/0/annotations/openWorldHint"),
    ],
)
def test_a_member_of_the_wrong_kind_is_named(members, pointer):
    assert [at for at, _ in faults_of([{**tool("run"), **members}])] == [pointer]


def test_a_missing_name_is_named():
    assert faults_of([{"title": "Nameless"}]) == [("/0", "missing")]


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a b",
        "run\n",
        "run\t",
        "run\u0000",
        "run\u202etxt",
        "run\u200b",
        "r\u00fcn",
        "\u0440un",
        "\uff52un",
        "run\ud800",
        "a*",
        "a?b",
        "a,b",
        "a\\b",
        "x" * 129,
    ],
)
def test_a_name_outside_the_alphabet_is_refused_and_shown_escaped(name):
    with pytest.raises(Faults) as refused:
        read_tools([tool(name)], family="box")
    (fault,) = refused.value.faults
    assert (fault.pointer, fault.code) == ("/0/name", "name_refused")
    assert fault.message.isprintable()


def test_an_empty_name_is_refused_with_a_prefix_too():
    assert faults_of([tool("")], prefix="mcp__box__") == [("/0/name", "name_refused")]


def test_a_name_may_fill_the_128_characters_with_its_prefix_and_no_more():
    prefix = "mcp__box__"
    longest = "x" * (128 - len(prefix))
    assert read_tools([tool(longest)], family="box", prefix=prefix)[0].name == prefix + longest
    assert faults_of([tool(longest + "x")], prefix=prefix) == [("/0/name", "name_refused")]


def test_a_name_that_stands_twice_is_named_each_time():
    assert faults_of(named("run", "stop", "run", "run")) == [
        ("/tools/2/name", "duplicate"),
        ("/tools/3/name", "duplicate"),
    ]


def test_names_that_differ_by_case_only_are_twins():
    assert faults_of(named("run", "Run")) == [("/tools/1/name", "case_twin")]


def test_all_faults_are_named_at_once():
    document = {
        "nextCursor": "more",
        "tools": [
            tool("run", title=1, annotations={"readOnlyHint": 1, "openWorldHint": 2}),
            tool("bad name", description=3),
            7,
            tool("RUN"),
        ],
    }
    assert faults_of(document) == [
        ("/nextCursor", "incomplete"),
        ("/tools/3/name", "case_twin"),
        ("/tools/0/title", "invalid"),
        ("/tools/0/annotations/readOnlyHint", "invalid"),
        ("/tools/0/annotations/openWorldHint", "invalid"),
        ("/tools/1/name", "name_refused"),
        ("/tools/1/description", "invalid"),
        ("/tools/2", "invalid"),
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_hold_is_a_fault_even_when_it_never_was_text(value):
    assert faults_of([tool("run", _meta={"x": value})]) == [("/0", "invalid")]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'{"tools": [',
        b'{"tools": [{"name": "run"',
        b'{"tools": [], "tools": []}',
        b'{"tools": [{"name": "run", "x": NaN}]}',
        b'{"tools": [{"name": "run", "x": 1e400}]}',
        b'{"tools": [{"name": "run\\u0000"}]}',
        b"\xff\xfe",
    ],
)
def test_a_file_that_is_not_good_json_is_refused_before_it_is_read_as_tools(text):
    with pytest.raises(Faults):
        strictjson.loads(text)


def test_ten_thousand_tools_cost_ten_times_a_thousand():
    few, many = (named(*(f"tool_{n}" for n in range(count))) for count in (1_000, 10_000))
    assert len(read_tools(many, family="box")) == 10_000
    assert_within(30, lambda: read_tools(many, family="box"), lambda: read_tools(few, family="box"))
