"""Answers that are files: the same bytes as the commands write."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from rest_framework.renderers import BaseRenderer

from toolpolicy.api.reading import JSON
from toolpolicy.services.documents.sources import write

YAML = "application/yaml"
CSV = "text/csv"
SCHEMA = "application/schema+json"
PYTHON = "text/x-python"


class FileFormat(StrEnum):
    """How a file is written."""

    JSON = "json"
    YAML = "yaml"


class JsonFile(BaseRenderer):
    """JSON, laid out."""

    media_type = JSON
    format = str(FileFormat.JSON)
    charset = None
    as_yaml = False

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        del accepted_media_type, renderer_context
        return b"" if data is None else write(data, as_yaml=self.as_yaml).encode()


class YamlFile(JsonFile):
    """YAML (RFC 9512), every text in quotes."""

    media_type = YAML
    format = str(FileFormat.YAML)
    as_yaml = True


class SchemaFile(JsonFile):
    """A JSON Schema."""

    media_type = SCHEMA
    format = "schema"


class CsvFile(BaseRenderer):
    """CSV that a service wrote: here only so that `Accept` can name it."""

    media_type = CSV
    format = "csv"
    charset = "utf-8"


class Bytes(BaseRenderer):
    """Bytes of some media type, as they are; those of a stream never come here."""

    charset = None
    format = "file"

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type

    def render(
        self,
        data: bytes,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        del accepted_media_type, renderer_context
        return data
