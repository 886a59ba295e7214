"""Rules over the arguments of one tool: how they are written, and what they find."""

from typing import Any

import pytest

from toolpolicy.engine.faults import Faults
from toolpolicy.engine.masking import (
    MOST_PATTERNS,
    MOST_SPOTS,
    Keeping,
    Mask,
    MaskRules,
    Spot,
    parse_masking,
    settled,
)
from toolpolicy.engine.secret_names import DEFAULT_SECRETS

WRONG = [
    ([], [""]),
    ({"key": ["x"]}, ["/key"]),
    ({"mode": "half"}, ["/mode"]),
    ({"keys": [1]}, ["/keys/0"]),
    ({"keys": ["", "ok", "…", "one two three four five"]}, ["/keys/0", "/keys/2", "/keys/3"]),
    ({"pointers": ["card"]}, ["/pointers/0"]),
    ({"keys": ["x"] * (MOST_PATTERNS + 1)}, ["/keys"]),
    ({"pointers": ["/" + "x" * 300]}, ["/pointers"]),
]


def mask(*documents: dict[str, Any]) -> Mask:
    return Mask([(f"place {n}", parse_masking(one)) for n, one in enumerate(documents)])


def found(one: Mask, document: Any) -> dict[str, str]:
    return {"/".join(spot.path): spot.rule for spot in one.spots(document)}


def test_rules_are_read_from_their_wire_form():
    document = {"mode": "full", "keys": ["a", "*b"], "pointers": ["", "/x/*/y"]}
    assert parse_masking(document) == MaskRules(
        mode=Keeping.FULL, keys=("a", "*b"), pointers=("", "/x/*/y")
    )
    assert parse_masking({"mode": None, "keys": "a"}) == MaskRules(keys=("a",))


@pytest.mark.parametrize(("document", "places"), WRONG)
def test_every_fault_of_rules_is_named(document, places):
    with pytest.raises(Faults) as refused:
        parse_masking(document)
    assert [fault.pointer for fault in refused.value.faults] == places


def test_keys_are_found_at_every_depth_and_the_whole_value_is_masked():
    document = {
        "password": {"old": "a", "new": "b"},
        "list": [{"token": None}, [{"x": {"Token": 1}}]],
        "tokenizer": "x",
    }
    assert found(mask({"keys": ["password", "token"]}), document) == {
        "password": "key password",
        "list/0/token": "key token",
        "list/1/0/x/Token": "key token",
    }


def test_the_value_of_a_pair_that_names_a_secret_is_masked():
    headers = [
        {"name": "Authorization", "value": "Bearer x"},
        {"key": "x", "header": "Set-Cookie", "value": "y"},
        {"name": "Accept", "value": "z"},
        {"name": 1, "value": "z"},
        {"name": "Authorization", "allowed": "z"},
    ]
    assert found(mask({"keys": ["authorization", "cookie"]}), headers) == {
        "0/value": "key authorization",
        "1/value": "key cookie",
    }


PAIRS: list[tuple[Any, list[str]]] = [
    ({"Key": "DB_PASSWORD", "Value": "x"}, ["Value"]),
    ({"Name": "DB_PASSWORD", "Value": {"S": "x"}, "Type": "String"}, ["Value"]),
    ({"name": "Authorization", "values": ["x", "y"]}, ["values"]),
    ({"id": "password", "value": "x", "content": "y"}, ["content", "value"]),
    ({"parameter": "password", "VALUE": "x"}, ["VALUE"]),
    ({"label": "Your password", "val": "x"}, ["val"]),
    ({"name": "city", "value": "x"}, []),
    ({"Name": 1, "Value": "x"}, []),
    ({"names": "password", "value": "x"}, []),
    ({"name": "password", "valueFrom": "vault"}, []),
    ([["Authorization", "x"], ["Accept", "y"]], ["0/1"]),
    ([["password", {"x": 1}]], ["0/1"]),
    ([["password", "x", "y"]], []),
    (["password", "x"], []),
    ([[["a", 1], ["b", {"password": 1}]]], ["0/1/1/password"]),
]


@pytest.mark.parametrize(("document", "places"), PAIRS, ids=str)
def test_a_name_and_its_value_are_known_in_the_forms_that_programs_write(document, places):
    assert sorted(found(mask({"keys": ["authorization", "password"]}), document)) == places


INSIDE: list[tuple[Any, list[str]]] = [
    (
        {"card": {"number": "4111 1111", "cvc": "123", "expiry": "12/29"}},
        ["cvc", "expiry", "number"],
    ),
    ({"creditCard": {"Number": "4111 1111", "holder": "Ada"}}, ["Number"]),
    ({"payment_card": {"cvv": "123", "brand": "visa"}}, ["cvv"]),
    ({"cards": [{"number": "4111 1111", "name": "Ada"}]}, ["0/number"]),
    ({"api": {"key": "x", "keys": "y"}}, ["key"]),
    ({"card": {"holder": {"number": "17"}}}, []),
    ({"order": {"number": "4711"}}, []),
    ({"discard": {"number": "4711"}}, []),
    ({"card": {"number" + "x" * 64: "4111"}}, []),
]


@pytest.mark.parametrize(("document", "places"), INSIDE, ids=str)
def test_a_member_is_also_known_by_the_name_of_its_object_before_its_own(document, places):
    [outer] = document
    spots = mask({"keys": list(DEFAULT_SECRETS)}).keyed(document, ("asked", "arguments"))
    told = sorted("/".join(spot.path) for spot in spots)
    assert told == [f"asked/arguments/{outer}/{place}" for place in places]


def test_whole_names_and_globs_are_compared_with_the_member_alone():
    document = {"card": {"pin": "1234", "code": "5678"}}
    assert found(mask({"keys": ["=card_pin", "*d_code"]}), document) == {}


DESCRIBED: list[tuple[Any, list[str]]] = [
    ({"properties": {"password": {"type": "string", "default": "x"}}}, ["default"]),
    ({"properties": {"password": {"const": "x", "enum": ["y"], "examples": ["z"]}}},
     ["const", "enum", "examples"]),
    ({"properties": {"password": {"anyOf": [{"example": "x"}, {"type": "null"}]}}},
     ["anyOf/0/example"]),
    ({"properties": {"password": {"properties": {"old": {"default": "x"}}}}},
     ["properties/old/default"]),
    ({"properties": {"city": {"default": "x", "enum": ["y"]}}, "default": {}}, []),
    ({"properties": {"password": {"type": "string", "minLength": 8}}}, []),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "places"), DESCRIBED, ids=str)
def test_a_schema_of_a_secret_can_hold_one_in_its_examples(schema, places):
    spots = mask({"keys": ["password"]}).described(schema, ())
    assert sorted("/".join(spot.path) for spot in spots) == [
        f"properties/password/{place}" for place in places
    ]


def test_a_value_that_a_schema_holds_itself_is_masked_as_in_arguments():
    schema = {"api_key": "x", "env": [{"Name": "api_key", "Value": "y"}], "list": [{"api_key": {}}]}
    spots = mask({"keys": ["api_key"]}).described(schema, ("at",))
    assert ["/".join(spot.path) for spot in spots] == ["at/api_key", "at/env/0/Value"]


POINTED = [
    ("", ["@"]),
    ("/a", ["a"]),
    ("/a/b", ["a/b"]),
    ("/a~1b/~0", ["a/b/~"]),
    ("/list/1", ["list/1"]),
    ("/list/*/n", ["list/0/n", "list/1/n"]),
    ("/*/b", ["a/b"]),
    ("/none", []),
    ("/a/b/c", []),
    ("/list/01", []),
]


@pytest.mark.parametrize(("pointer", "places"), POINTED)
def test_a_pointer_finds_its_place_and_a_star_every_one(pointer, places):
    document = {"a": {"b": "x"}, "a/b": {"~": 1}, "list": [{"n": 1}, {"n": 2}]}
    one = mask({"pointers": [pointer]})
    assert ["/".join(spot.path) or "@" for spot in one.spots(document)] == places


def test_rules_of_several_places_add_up_and_each_spot_says_whose_it_is():
    one = mask({"keys": ["token"]}, {"keys": ["ssn"]}, {"pointers": ["/x"]})
    spots = list(one.spots({"token": 1, "ssn": 2, "x": 3}))
    assert {(spot.path, spot.of) for spot in spots} == {
        *((("token",), "place 0"), (("ssn",), "place 1"), (("x",), "place 2"))
    }


MODES = [
    ([{}], Keeping.MASKED),
    ([{"mode": "full"}, {}], Keeping.FULL),
    ([{"mode": "digest"}, {"mode": "masked"}, {}], Keeping.MASKED),
    ([{}, {"mode": "masked"}, {"mode": "digest"}], Keeping.DIGEST),
]


@pytest.mark.parametrize(("documents", "mode"), MODES)
def test_the_mode_of_the_narrowest_place_counts(documents, mode):
    assert mask(*documents).mode is mode


def test_in_full_nothing_is_masked_and_a_digest_masks_all_and_keeps_nothing():
    keys = {"keys": ["token"]}
    assert list(mask(keys, {"mode": "full"}).spots({"token": 1})) == []
    [spot] = mask(keys, {"mode": "digest"}).spots({"token": 1}, ("at",))
    assert (spot.path, spot.kept, spot.of) == (("at",), False, "place 1")


def spot(path: str, *, kept: bool = True) -> Spot:
    return Spot(path=tuple(path.split("/")), rule="r", of="o", kept=kept)


def test_the_outermost_places_stay_each_once():
    spots = [spot("r/b"), spot("r/a/x"), spot("r/a"), spot("r/b"), spot("r/ab")]
    assert [one.path for one in settled(spots, ("r",))] == [("r", "a"), ("r", "ab"), ("r", "b")]


def test_what_must_not_be_kept_is_not_kept_by_a_wider_place_either():
    [inner] = settled([spot("r/a"), spot("r/a/x", kept=False)], ("r",))
    assert (inner.path, inner.kept) == (("r", "a"), False)
    [same] = settled([spot("r/a"), spot("r/a", kept=False)], ("r",))
    assert same.kept is False
    [outer] = settled([spot("r/a", kept=False), spot("r/a/x")], ("r",))
    assert (outer.path, outer.kept) == (("r", "a"), False)


@pytest.mark.parametrize("kept", [True, False])
def test_too_many_places_become_one(kept):
    spots = [spot(f"r/{n:04}") for n in range(MOST_SPOTS)]
    assert len(settled(spots, ("r",))) == MOST_SPOTS
    [one] = settled([*spots, spot("r/x", kept=kept)], ("r",))
    assert (one.path, one.kept) == (("r",), kept)
