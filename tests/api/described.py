"""Answers held to `docs/openapi.yaml`: every member that it promises is there, and no other."""

import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

DESCRIPTION = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
NOT_OFFERED = 405
# Absent where only requirements.txt is installed; nothing is held then.
CAN_HOLD = find_spec("jsonschema") is not None


@cache
def description() -> dict[str, Any]:
    """Return the committed description."""
    found: dict[str, Any] = yaml.safe_load(DESCRIPTION.read_text(encoding="utf-8"))
    return found


def expect_described(method: str, address: str, answer: Any) -> None:
    """Fail where an answer is another than the one that is described for this address."""
    path = _path(address.partition("?")[0]) if CAN_HOLD else None
    operation = description()["paths"][path].get(method.lower()) if path else None
    if path is None or operation is None or answer.status_code == NOT_OFFERED:
        return
    response = operation["responses"].get(str(answer.status_code))
    assert response, f"{method} {path} says nothing of {answer.status_code}"
    if "content" not in response:
        assert not answer.content
        return
    media = answer.headers["Content-Type"].partition(";")[0]
    assert media in response["content"], f"{method} {path} says nothing of {media}"
    if media.endswith("json"):
        _validator(method.lower(), path, str(answer.status_code), media).validate(
            json.loads(answer.content)
        )


@cache
def _path(address: str) -> str | None:
    """Return the described path of an address; one without a key in it goes before others."""
    paths = sorted(description()["paths"], key=lambda path: path.count("{"))
    return next((p for p in paths if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", p), address)), None)


@cache
def _validator(method: str, path: str, status: str, media: str) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    response = description()["paths"][path][method]["responses"][status]
    schemas = {"components": {"schemas": description()["components"]["schemas"]}}
    return Draft202012Validator(_exact({**response["content"][media]["schema"], **schemas}))


def _exact(schema: Any) -> Any:
    """Return a schema of OpenAPI 3.0 as JSON Schema, in which no object has other members."""
    if isinstance(schema, list):
        return [_exact(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    exact = {name: _exact(value) for name, value in schema.items() if name != "nullable"}
    if schema.get("type") == "object" and "properties" in schema:
        exact.setdefault("additionalProperties", False)
    return {"anyOf": [exact, {"type": "null"}]} if schema.get("nullable") else exact
