"""Fields of forms: what was typed, what it means, and when it counts as changed."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError

from toolpolicy.admin.faults import LinesField, MomentField, WireField


def test_an_empty_box_is_nothing_and_layout_is_no_change():
    field = WireField(nothing={})
    assert field.clean("  ") == {}
    assert field.prepare_value({}) == ""
    assert not field.has_changed({"a": 1}, '{ "a":\n1 }')
    assert field.has_changed({"a": 1}, '{"a": 2}')
    assert field.has_changed({"a": 1}, "{")


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1, "a": 2}', '{"a": "\\u0000"}', "{" * 50])
def test_json_that_another_reader_would_let_pass_is_refused(text):
    with pytest.raises(ValidationError):
        WireField(nothing=None).clean(text)


def test_lines_are_a_list_without_blanks():
    field = LinesField()
    assert field.clean(" a \r\n\n b") == ["a", "b"]
    assert field.prepare_value(["a", "b"]) == "a\nb"
    assert not field.has_changed(["a", "b"], "a\nb\n")
    assert not field.has_changed(None, "")


def test_a_moment_is_read_as_utc():
    moment = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    field = MomentField()
    assert field.clean("2030-01-02T03:04:05") == moment
    assert field.clean("2030-01-02T03:04") == moment.replace(second=0)
    assert field.clean("") is None
