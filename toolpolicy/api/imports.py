"""The body of an import: its own members, and the server's document under `document`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from toolpolicy.api.members import read_dry_run
from toolpolicy.engine.faults import Fault
from toolpolicy.engine.reading import Reader, present
from toolpolicy.services import registry
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.registry import ImportReport, ToolFormat

MEMBERS: Final = ("family", "prefix", "kind", "format", "dry_run", "document")
_OWN: Final = frozenset({"/family", "/prefix", "/kind"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBody:
    """What is imported, and as what."""

    family: str
    document: Any
    prefix: str | None = None
    kind: str | None = None
    form: ToolFormat = ToolFormat.MCP
    dry_run: bool = False

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Read the body's own members. Raises `Faults`; the document is the service's to judge."""
        reader = Reader()
        members = reader.members(values, "", MEMBERS)
        for name in ("family", "document"):
            if name not in members:
                reader.fault("", f"`{name}` is needed", "missing")
        texts = {
            name: reader.text(members[name], f"/{name}")
            for name in ("family", "prefix", "kind")
            if present(members, name)
        }
        form = ToolFormat.MCP
        if present(members, "format"):
            form = reader.word(members["format"], "/format", ToolFormat) or form
        return reader.finish(
            cls(
                family=texts.get("family") or "",
                document=members.get("document"),
                prefix=texts.get("prefix"),
                kind=texts.get("kind"),
                form=form,
                dry_run=read_dry_run(reader, members),
            )
        )

    def run(self, actor: Actor, origin: Origin) -> ImportReport:
        """Import. Raises `InvalidInput` with pointers into the body."""
        try:
            return registry.import_tools(
                actor=actor,
                origin=origin,
                family=self.family,
                document=self.document,
                prefix=self.prefix,
                kind=self.kind,
                form=self.form,
                dry_run=self.dry_run,
            )
        except InvalidInput as error:
            raise InvalidInput(_placed(fault) for fault in error.faults) from None


def _placed(fault: Fault) -> Fault:
    if fault.pointer in _OWN:
        return fault
    return fault.moved(f"/document{fault.pointer}")
