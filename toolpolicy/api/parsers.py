"""The parser of every body that a view reads as JSON."""

from collections.abc import Mapping
from typing import Any

from rest_framework.parsers import BaseParser

from toolpolicy.api.reading import JSON, Cap, parse, read_body


class StrictJSONParser(BaseParser):
    """Reads a body by the rules of `toolpolicy.engine.strictjson`, up to the view's cap."""

    media_type = JSON

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        del media_type
        cap: Cap = (parser_context or {})["view"].cap
        return parse(read_body(stream, cap), cap)
