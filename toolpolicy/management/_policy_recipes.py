"""The recipes on a command line: `manage.py policy recipe NAME`."""

from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toolpolicy.engine.documents import dump_policy
from toolpolicy.engine.faults import Fault, Faults, join, shown
from toolpolicy.engine.recipe_options import RECIPES, Option, OptionKind, cook
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Permission


def toggle(text: str) -> tuple[str, str]:
    """Read one `tool=mode`."""
    name, equals, mode = text.partition("=")
    if not equals:
        msg = f"`{text}` is no toggle; write tool=mode"
        raise ArgumentTypeError(msg)
    return name, mode


def add_recipe_arguments(parser: ArgumentParser) -> None:
    """Add a sub-command for each recipe."""
    named = parser.add_subparsers(dest="recipe", required=True, metavar="NAME")
    for recipe in RECIPES.values():
        own = named.add_parser(recipe.name, help=recipe.summary)
        for option in recipe.options:
            own.add_argument(
                f"--{option.name}", required=option.required, help=option.about, **_kind(option)
            )
        own.add_argument("--yaml", action="store_true", help="as YAML")


def _kind(option: Option) -> dict[str, Any]:
    match option.kind:
        case OptionKind.PATTERN:
            return {"metavar": "PATTERN"}
        case OptionKind.PATTERNS:
            return {"nargs": "+", "metavar": "TOOL", "default": []}
        case OptionKind.TOGGLES:
            return {"nargs": "+", "type": toggle, "metavar": "TOOL=MODE"}
        case OptionKind.LEVEL:
            return {"choices": [str(level) for level in Permission]}


def recipe_document(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy document of a recipe's layer. Raises `Faults`."""
    recipe = RECIPES[options["recipe"]]
    given = {option.name: options[option.name] for option in recipe.options}
    if "toggles" in given:
        given["toggles"] = _once(given["toggles"])
    return dump_policy(Policy(layers=(cook(recipe, given),)))


def _once(toggles: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return toggles by name. Raises `Faults` for one that stands twice: it would not be obeyed."""
    counts = Counter(name for name, _ in toggles)
    faults = [
        Fault(join("/toggles", name), f"{shown(name)} stands twice", "duplicate")
        for name, count in counts.items()
        if count > 1
    ]
    if faults:
        raise Faults(faults)
    return dict(toggles)
