"""The last touch on the OpenAPI description."""

from typing import Any


def tidy(result: Any, **_: Any) -> Any:
    """Drop the marks that the generator leaves on choices for a hook of its own."""
    if isinstance(result, dict):
        return {key: tidy(item) for key, item in result.items() if key != "x-spec-enum-id"}
    return [tidy(item) for item in result] if isinstance(result, list) else result
