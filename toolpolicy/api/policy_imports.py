"""Bodies that bring a policy along: an import's, and a recipe's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from toolpolicy.api.members import DRY_RUN, read_dry_run, without
from toolpolicy.api.reading import Cap
from toolpolicy.engine.documents import product_reader
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.engine.reading import Reader, present
from toolpolicy.engine.recipe_options import RECIPES, Recipe
from toolpolicy.engine.words import Scope
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.documents import sources
from toolpolicy.services.documents.sources import POLICY_DEPTH, POLICY_TOKENS, Syntax
from toolpolicy.services.documents.yaml_text import Text
from toolpolicy.services.errors import InvalidInput, NotFound
from toolpolicy.services.policies import Imported, ImportMode, ImportOptions
from toolpolicy.services.policy_files import Belonging, import_text

MEMBERS: Final = (
    *("document", "format", "mode", "dry_run", "version"),
    *("scope", "target", "name"),
)
# What any import may hold, inside a body with some members of its own.
POLICY: Final = Cap("max_import_bytes", POLICY_DEPTH + 1, POLICY_TOKENS + 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyImportBody:
    """What is imported, and how. The document is the service's to judge."""

    text: Text
    belonging: Belonging
    mode: ImportMode
    dry_run: bool

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Read the body's own members, and a document that is a text. Raises `Faults`."""
        reader = product_reader()
        members = reader.members(values, "", MEMBERS)
        if "document" not in members:
            reader.fault("", "`document` is needed", "missing")
        syntax, mode = Syntax.JSON, ImportMode.REPLACE
        if present(members, "format"):
            syntax = reader.word(members["format"], "/format", Syntax) or syntax
        if present(members, "mode"):
            mode = reader.word(members["mode"], "/mode", ImportMode) or mode
        body = cls(
            text=_text(reader, members.get("document"), syntax),
            belonging=_belonging(reader, members),
            mode=mode,
            dry_run=read_dry_run(reader, members),
        )
        return reader.finish(body)

    @property
    def needs_version(self) -> bool:
        """Whether it would undo what others did since the caller looked."""
        return self.mode is ImportMode.REPLACE and not self.dry_run

    def run(self, actor: Actor, origin: Origin, seen: int | None) -> Imported:
        """Import. Raises `InvalidInput` with pointers into the body."""
        options = ImportOptions(mode=self.mode, dry_run=self.dry_run, seen=seen)
        try:
            return import_text(
                actor=actor,
                text=self.text,
                belonging=self.belonging,
                options=options,
                origin=origin,
            )
        except InvalidInput as error:
            raise InvalidInput(map(_inside, error.faults)) from None


def _text(reader: Reader, value: Any, syntax: Syntax) -> Text:
    """Return the document; one in another syntax than the body's comes as a text."""
    if syntax is Syntax.JSON:
        return Text(value)
    if not reader.has_kind(value, str, "/document"):
        return Text(None)
    try:
        return sources.read(value.encode(), syntax)
    except Faults as error:
        reader.found.extend(map(_inside, error.faults))
        return Text(None)


def _inside(fault: Fault) -> Fault:
    return fault.moved(f"/document{fault.pointer}")


def _belonging(reader: Reader, members: Mapping[str, Any]) -> Belonging:
    scope = target = name = None
    if present(members, "scope"):
        scope = reader.word(members["scope"], "/scope", Scope)
    if present(members, "target"):
        target = reader.patterns(members["target"], "/target")
    if present(members, "name"):
        name = reader.text(members["name"], "/name")
    return Belonging(scope=scope, target=target, name=name)


def recipe_named(name: str) -> Recipe:
    """Return a recipe. Raise NotFound where there is none of this name."""
    if name not in RECIPES:
        raise NotFound(f"such recipe; there are {', '.join(RECIPES)}")
    return RECIPES[name]


def recipe_body(values: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Part a body into what the recipe is told and whether it is a dry run. Raises `Faults`."""
    reader = Reader()
    return reader.finish((without(values, DRY_RUN), read_dry_run(reader, values)))
