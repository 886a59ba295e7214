"""Files of ten thousand rules or tools are read in about ten times the time of a thousand."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.timing import assert_within
from toolpolicy.engine.formats import read_any
from toolpolicy.engine.mcp import read_tools
from toolpolicy.engine.toolspec import read_specs
from toolpolicy.services.documents import yaml_text
from toolpolicy.services.documents.sources import Syntax, read

Read = Callable[[bytes], int]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def rules(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"r{number}", "effect": "deny", "match": {"name": f"tool_{number}_*"}}
        for number in range(count)
    ]


def policy(count: int) -> dict[str, Any]:
    layer = {"name": "house", "rules": rules(count)}
    envelope = {"scope": "config", "position": 0, "combining": "deny_overrides", "policy": layer}
    return {"format": "toolpolicy/1", "layers": [envelope]}


def ordered(count: int) -> dict[str, Any]:
    modes = ("on", "ask", "off")
    listed = [
        {"id": f"r{n}", "match": {"name": f"tool_{n}_*"}, "mode": modes[n % 3]}
        for n in range(count)
    ]
    return {"toolPolicy": listed}


def preferences(count: int) -> dict[str, Any]:
    return {"toolPreferences": {f"tool_{number}": "deny" for number in range(count)}}


def tools(count: int) -> list[dict[str, Any]]:
    return [{"name": f"tool_{number}", "inputSchema": SCHEMA} for number in range(count)]


def specs(count: int) -> list[dict[str, Any]]:
    return [{"name": f"tool_{number}", "input_schema": SCHEMA} for number in range(count)]


def as_json(document: Any) -> bytes:
    return json.dumps(document).encode()


def as_yaml(document: Any) -> bytes:
    return yaml_text.dumps(document).encode()


def as_prompt(document: Any) -> bytes:
    return b"---\n" + as_yaml(document) + b"---\nHello\n"


def rules_in(syntax: Syntax) -> Read:
    return lambda data: sum(
        len(layer.rules) for layer in read_any(read(data, syntax).value).policy.layers
    )


def tools_in(reader: Callable[..., tuple[Any, ...]]) -> Read:
    return lambda data: len(reader(json.loads(data), family="box"))


FORMS: dict[str, tuple[Callable[[int], Any], Callable[[Any], bytes], Read]] = {
    "policy json": (policy, as_json, rules_in(Syntax.JSON)),
    "policy yaml": (policy, as_yaml, rules_in(Syntax.YAML)),
    "layers": (lambda count: [{"rules": rules(count)}], as_json, rules_in(Syntax.JSON)),
    "ordered": (ordered, as_json, rules_in(Syntax.JSON)),
    "front matter": (ordered, as_prompt, rules_in(Syntax.PROMPT)),
    "legacy map": (preferences, as_yaml, rules_in(Syntax.YAML)),
    "mcp": (tools, as_json, tools_in(read_tools)),
    "toolspec": (specs, as_json, tools_in(read_specs)),
}


def reading(form: str, count: int) -> Callable[[], int]:
    make, write, read_all = FORMS[form]
    data = write(make(count))
    # A preference is a rule for the group and one for the name.
    assert read_all(data) in (count, 2 * count)
    return lambda: read_all(data)


@pytest.mark.parametrize("form", FORMS)
def test_ten_thousand_are_read_in_about_ten_times_the_time_of_a_thousand(form):
    assert_within(15, reading(form, 10_000), reading(form, 1_000))
