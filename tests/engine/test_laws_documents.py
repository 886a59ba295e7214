"""Laws of documents and their canonical text (SPEC §10).

- round trip: what is parsed, dumped, sent as canonical text through the strict reader and parsed
  again is the same value, hence dumped alike; the bare published layers inside are a fixed point
- fixed point: canonical text read back gives the same value, and again the same text, whatever
  the order of the keys
- one place, one fault: what is no object where one belongs is one fault, whatever it would need
- numbers: the text of a number is read back as that number, in the fewest digits, in one form
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.changes import shuffled
from tests.engine.refusals import faults_of
from tests.growing import STRICT, documents, subject
from tests.strategies import dispatcher, json_value, law, several
from toolpolicy.engine import canonical, strictjson
from toolpolicy.engine.documents import dump_layers, dump_policy, parse_layers, parse_policy
from toolpolicy.engine.faults import join
from toolpolicy.engine.subjects import dump_subject, parse_subject
from toolpolicy.engine.targets import dump_dispatcher, parse_dispatcher

NUMBER = re.compile(r"-?(\d+\.\d+|\d(\.\d+)?e[+-][1-9]\d*)")


def carried(document: Any) -> Any:
    """Send a document through canonical text and the strict reader."""
    return strictjson.loads(canonical.dumps(document).encode())


@law(written=several(documents))
def test_a_policy_survives_being_dumped_and_parsed(written):
    for document in written:
        policy = parse_policy(document)
        dumped = dump_policy(policy)
        assert carried(dumped) == dumped
        assert parse_policy(dumped) == policy
        layers = [layer["policy"] for layer in dumped["layers"] if layer["combining"] == STRICT]
        assert dump_layers(parse_layers(layers)) == layers


def objects(value: Any, at: str = "") -> Iterator[tuple[str, dict[str, Any] | list[Any], Any]]:
    """Yield each object below the whole, as its pointer, what holds it and its key there."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict):
            yield join(at, key), value, key
        if isinstance(item, dict | list):
            yield from objects(item, join(at, key))


@law(written=several(documents), other=st.sampled_from([5, "x", [], True]))
def test_what_is_no_object_where_one_belongs_is_one_fault(written, other):
    for document in written:
        parse_policy(document)
        for pointer, holder, key in list(objects(document)):
            good = holder[key]
            holder[key] = other
            told = [at for at, _ in faults_of(parse_policy, document)]
            holder[key] = good
            if "/examples/" not in pointer:  # anything may stand there
                assert [at for at in told if f"{at}/".startswith(f"{pointer}/")] == [pointer]


@law(wire=several(subject))
def test_a_subject_survives_being_dumped_and_parsed(wire):
    for document in wire:
        for strict in (True, False):
            parsed = parse_subject(document, strict=strict)
            dumped = dump_subject(parsed)
            assert carried(dumped) == dumped
            assert parse_subject(dumped, strict=strict) == parsed


@law(wire=several(dispatcher))
def test_a_dispatcher_survives_being_dumped_and_parsed(wire):
    for document in wire:
        parsed = parse_dispatcher(document)
        dumped = dump_dispatcher(parsed)
        assert carried(dumped) == dumped
        assert parse_dispatcher(dumped) == parsed


def as_written(value: Any) -> Any:
    """Return the value that its text means: integers beyond the range are doubles."""
    if isinstance(value, list):
        return [as_written(item) for item in value]
    if isinstance(value, dict):
        return {key: as_written(item) for key, item in value.items()}
    beyond = isinstance(value, int) and not -(2**63) <= value < 2**64
    return float(value) if beyond else value


def reordered(value: Any, number: int) -> Any:
    if isinstance(value, list):
        return tuple(reordered(item, number) for item in value)
    if isinstance(value, dict):
        return {key: reordered(value[key], number) for key in shuffled(list(value), number)}
    return value


def told_apart(value: Any) -> str:
    """Return a text that tells 1, 1.0, true and -0.0 apart."""
    return json.dumps(value, sort_keys=True)


@law(values=several(json_value), number=st.integers(0, 5))
def test_canonical_text_is_a_fixed_point_whatever_the_order_of_keys(values, number):
    for value in values:
        text = canonical.dumps(value)
        read = carried(value)
        assert canonical.dumps(read) == text
        assert canonical.dumps(reordered(value, number)) == text
        assert told_apart(json.loads(text)) == told_apart(read) == told_apart(as_written(value))


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_is_short_plain_where_it_can_be_and_read_back_exactly(number):
    text = canonical.number_text(number)
    back = float(text)
    assert (back, math.copysign(1, back)) == (number, math.copysign(1, number))
    assert NUMBER.fullmatch(text)
    assert ("e" in text) == (number != 0 and not 1e-5 <= abs(number) < 1e16)
    digits, shortest = (re.sub(r"e.*|[-.]", "", form).strip("0") for form in (text, repr(number)))
    assert digits == shortest


@given(number=st.integers(-(2**70), 2**70))
def test_the_text_of_an_integer_keeps_its_digits_inside_the_range_alone(number):
    inside = -(2**63) <= number < 2**64
    expected = str(number) if inside else canonical.number_text(float(number))
    assert canonical.number_text(number) == expected
