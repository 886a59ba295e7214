"""The table of bad input: a problem that names each fault, in bounded time, and no answer."""

import pytest

from tests.api.refusing import GOOD, WITHIN, body, raw, refused

UNREADABLE = {
    "nothing": (b"", [""]),
    "no JSON": (b"surface=call", [""]),
    "JavaScript": (b"{surface:'call'}", [""]),
    "cut": (body()[:-1], [""]),
    "two values": (body() + body(), [""]),
    "a byte order mark": (b"\xef\xbb\xbf" + body(), [""]),
    "UTF-16": (body().decode().encode("utf-16"), [""]),
    "bad UTF-8": (raw(b'"\xff"'), [""]),
    "overlong UTF-8": (raw(b'"\xc0\x80"'), [""]),
    "nested 33 deep": (raw(b"[" * 32 + b"]" * 32), [""]),
    "nested 1,100 deep": (raw(b"[" * 1_100 + b"]" * 1_100), [""]),
    "nested 100,000 deep": (raw(b"[" * 100_000 + b"]" * 100_000), [""]),
    "never closed": (raw(b"[" * 100_000), [""]),
    "a member twice": (b'{"surface":"call","surface":"catalog","tool":"x"}', ["/surface"]),
    "a member twice inside": (raw(b'{"a":{"b":1,"b":2}}'), ["/arguments/a/b"]),
    "NaN": (raw(b'{"a":NaN}'), ["/arguments/a"]),
    "Infinity": (raw(b"[1,-Infinity]"), ["/arguments/1"]),
    "1e400": (raw(b'{"a":1e400}'), ["/arguments/a"]),
    "two numbers": (raw(b"[1e400,-1e999]"), ["/arguments/0", "/arguments/1"]),
    "2^64": (raw(b'{"a":18446744073709551616}'), ["/arguments/a"]),
    "-2^63-1": (raw(b'{"a":-9223372036854775809}'), ["/arguments/a"]),
    "5,000 digits": (raw(b"9" * 5_000), ["/arguments"]),
    "a lone surrogate": (raw(b'"\\ud800"'), ["/arguments"]),
    "a lone surrogate in a name": (raw(b'{"\\udfff":1}'), ["/arguments"]),
    "NUL": (raw(b'"a\\u0000"'), ["/arguments"]),
    "NUL in a name": (raw(b'{"\\u0000":1}'), ["/arguments"]),
    "every kind at once": (
        raw(b'{"a":NaN,"b":1e400,"c":"\\ud800","d":"\\u0000","e":1,"e":2}'),
        [f"/arguments/{name}" for name in "eabcd"],
    ),
}
WRONG = {
    "a list": (b"[]", [""]),
    "a text": (b'"call"', [""]),
    "null": (b"null", [""]),
    "nothing in it": (b"{}", ["", ""]),
    "no surface": (b'{"tool":"x"}', [""]),
    "no tool": (b'{"surface":"call"}', [""]),
    "an unknown surface": (body(surface="shell"), ["/surface"]),
    "a surface in capitals": (body(surface="CALL"), ["/surface"]),
    "a surface that is a number": (body(surface=1), ["/surface"]),
    "an unknown member": (body(dryrun=True), ["/dryrun"]),
    "two unknown members": (body(a=1, b=2), ["/a", "/b"]),
    "a member to be escaped": (body(**{"a/b~c": 1}), ["/a~1b~0c"]),
    "a name with a blank": (body(tool="send mail"), ["/tool"]),
    "a name with a final newline": (body(tool="send_mail\n"), ["/tool"]),
    "a name in Cyrillic": (body(tool="s\u0435nd_mail"), ["/tool"]),
    "a name in full width": (body(tool="\uff53end_mail"), ["/tool"]),
    "a name with a joiner": (body(tool="send\u200d_mail"), ["/tool"]),
    "an empty name": (body(tool=""), ["/tool"]),
    "a name of 129": (body(tool="x" * 129), ["/tool"]),
    "a tool that is a list": (body(tool=["x"]), ["/tool"]),
    "a tool without a name": (body(tool={"family": "mail"}), ["/tool"]),
    "a tool with more": (body(tool={"name": "x", "id": 1}), ["/tool/id"]),
    "tool and subject": (body(subject={"name": "x"}), [""]),
    "context that is a list": (body(context=[]), ["/context"]),
    "context of numbers": (body(context={"agent": 1, "b": None}), ["/context/agent", "/context/b"]),
    "a sandbox that is none": (body(context={"sandbox_mode": "off"}), ["/context/sandbox_mode"]),
    "untrusted that is no text": (
        body(context={"untrusted_content": True}),
        ["/context/untrusted_content"],
    ),
    "too much context": (body(context={f"k{n}": "v" for n in range(65)}), ["/context"]),
    "a long context": (body(context={"agent": "x" * 201}), ["/context/agent"]),
    "flags that are words": (
        body(dry_run="yes", explain=1),
        ["/dry_run", "/explain"],
    ),
    "a version that is a text": (body(min_policy_version="3"), ["/min_policy_version"]),
    "targets that are names": (body(targets=["x"]), ["/targets/0"]),
    "101 targets": (body(targets=[{"tool": "x"}] * 101), ["/targets"]),
    "a target of its own surface": (
        body(targets=[{"tool": "x", "surface": "call"}]),
        ["/targets/0/surface"],
    ),
}


def told(api, path, sent):
    """Return what a caller is told of a bad body: status, code, and the place of every fault."""
    status, problem = refused(api, path, sent)
    assert all(error["message"] and error["code"] for error in problem["errors"])
    return status, problem["code"], [error["pointer"] for error in problem["errors"]]


@pytest.mark.parametrize("path", ["decisions/", "explain/"])
def test_what_is_no_json_is_refused_with_every_fault(api, path):
    found = {case: told(api, path, sent) for case, (sent, _) in UNREADABLE.items()}
    assert found == {c: (400, "malformed", pointers) for c, (_, pointers) in UNREADABLE.items()}


@pytest.mark.parametrize("path", ["decisions/", "explain/"])
def test_what_says_something_wrong_is_refused_with_every_fault(api, path):
    found = {case: told(api, path, sent) for case, (sent, _) in WRONG.items()}
    assert found == {c: (422, "invalid", pointers) for c, (_, pointers) in WRONG.items()}


def test_items_of_a_batch_are_refused_as_each_would_be_alone(api):
    sent = b'{"items":[' + b",".join(sent for sent, _ in WRONG.values()) + b"]}"
    results = api.post("decisions/batch/", sent).json()["results"]
    assert {(one["status"], one["code"], one["outcome"]) for one in results} == {
        (422, "invalid", "deny")
    }
    assert [[error["pointer"] for error in one["errors"]] for one in results] == [
        [f"/items/{number}{pointer}" for pointer in pointers]
        for number, (_, pointers) in enumerate(WRONG.values())
    ]


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({}, [""]),
        ({"items": {}}, ["/items"]),
        ({"item": [GOOD]}, ["/item", ""]),
        ({"items": [GOOD], "defaults": []}, ["/defaults"]),
        ({"items": [GOOD], "defaults": {"toll": 1}}, ["/defaults/toll"]),
    ],
)
def test_the_envelope_of_a_batch_is_read_strictly(api, sent, pointers):
    status, problem = refused(api, "decisions/batch/", sent)
    assert (status, problem["code"]) == (422, "invalid")
    assert [error["pointer"] for error in problem["errors"]] == pointers


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({"surface": "call"}, ["/surface"]),
        (
            {"surface": "catalog", "subjects": [{"name": "a b"}, {}]},
            ["/subjects/0/name", "/subjects/1"],
        ),
        ({"surface": "catalog", "subjects": {}}, ["/subjects"]),
        ({"surface": "search", "query": 5}, ["/query"]),
        ({"surface": "search", "querry": "x"}, ["/querry"]),
        ({"surface": "catalog", "subjects": [{"name": "x"}] * 10_001}, ["/subjects"]),
    ],
)
def test_a_wrong_listing_is_refused_with_every_fault(api, sent, pointers):
    status, problem = refused(api, "catalog/", sent, WITHIN)
    assert (status, problem["code"]) == (422, "invalid")
    assert [error["pointer"] for error in problem["errors"]] == pointers


@pytest.mark.parametrize(
    "path",
    [
        "layers/?enabled=yes",
        "layers/?scope=world",
        "layers/?page_size=0",
        "layers/?page_size=501",
        "layers/?page_size=ten",
        "layers/?page_size=1&page_size=2",
        "layers/?cursor=xx",
        "layers/?cursor=cD0%3D",
        "layers/?name=a%00b",
        "rules/?layer=-1",
        "rules/?layer=1e400",
        "rules/?layer=99999999999999999999",
        "records/?since=yesterday",
        "records/?since=0001-01-01T00:00:00%2B23:59",
        "records/?decision_id=x",
        "records/?kind=nothing",
        "records/?colour=red",
        "policy/versions/diff/",
        "policy/versions/diff/?from=1",
        "policy/versions/diff/?from=1&to=x",
        "policy/versions/diff/?from=1&to=-1",
    ],
)
def test_a_wrong_query_parameter_is_refused_and_named(api, path):
    response = api.get(path)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (400, "bad_query")
    assert problem["errors"]
    assert all(error["parameter"] in path or "diff" in path for error in problem["errors"])


@pytest.mark.parametrize("number", ["0", "999999", "99999999999999999999999"])
@pytest.mark.parametrize("path", ["layers/{}/", "rules/{}/", "tools/{}/", "policy/versions/{}/"])
def test_a_number_that_nothing_has_is_not_found(api, path, number):
    assert api.get(path.format(number)).status_code == 404
