"""Policies that come as files, bodies or recipes: what every face does with them, once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from toolpolicy.engine.documents import dump_policy
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.formats import Place, is_bare
from toolpolicy.engine.recipe_options import Recipe, cook
from toolpolicy.engine.values import Patterns, Policy
from toolpolicy.engine.words import Scope
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.documents.yaml_text import Text
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.policies import Imported, ImportMode, ImportOptions, import_document

UNTITLED: Final = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """Where rules go that do not say it, as far as somebody said it; `title` names the file."""

    scope: Scope | None = None
    target: Patterns | None = None
    name: str | None = None
    title: str = UNTITLED

    def place(self, document: Any) -> Place | None:
        """Return the place for this document; None where it says all itself and nobody else did."""
        said = any(part is not None for part in (self.scope, self.target, self.name))
        if not said and not is_bare(document):
            return None
        return Place(
            name=self.title if self.name is None else self.name,
            scope=self.scope or Scope.CONFIG,
            target=self.target,
        )


def import_text(
    *,
    actor: Actor,
    text: Text,
    belonging: Belonging,
    options: ImportOptions,
    origin: Origin = NOWHERE,
) -> Imported:
    """Import what a file holds, as `policies.import_document` does; `options.where` is made here.

    Raises the same; faults have their lines where the file is YAML.
    """
    options = replace(options, where=belonging.place(text.value))
    try:
        return import_document(actor=actor, document=text.value, options=options, origin=origin)
    except InvalidInput as error:
        raise InvalidInput(text.located(error.faults)) from None


def add_recipe(
    *,
    actor: Actor,
    recipe: Recipe,
    values: Mapping[str, Any],
    dry_run: bool = False,
    origin: Origin = NOWHERE,
) -> Imported:
    """Add the layer that a recipe makes of these options, JSON values by name.

    Raises `InvalidInput` with every fault, its pointer into `values`.
    """
    options = ImportOptions(mode=ImportMode.ADD, dry_run=dry_run)
    try:
        document = dump_policy(Policy(layers=(cook(recipe, values),)))
        return import_document(actor=actor, document=document, options=options, origin=origin)
    except Faults as refused:
        raise InvalidInput(refused.faults) from None
    except InvalidInput as refused:
        # Options are checked already; what is left is the name that was made of one.
        raise InvalidInput(fault.moved(recipe.named_after) for fault in refused.faults) from None
