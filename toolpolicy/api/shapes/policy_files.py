"""Policies as files, their imports and the recipes on the wire. Shapes only."""

from typing import Any, Final

from drf_spectacular.utils import PolymorphicProxySerializer, inline_serializer
from rest_framework import serializers

from toolpolicy.api.shapes.base import (
    AnswerShape,
    AnyField,
    ObjectsField,
    PatternsField,
    PolicyPlace,
    Shape,
)
from toolpolicy.api.shapes.policy import DiffEntry
from toolpolicy.engine.documents import FORMAT, MAX_PATTERN_LENGTH, MAX_PATTERNS
from toolpolicy.engine.formats import Form
from toolpolicy.engine.recipe_options import RECIPES, Option, OptionKind, Recipe
from toolpolicy.engine.words import Permission
from toolpolicy.models.choices import Mode, Scope
from toolpolicy.services.documents.sources import Syntax
from toolpolicy.services.policies import ImportMode


class PolicyDocument(AnswerShape):
    """A policy document; its JSON Schema is at `policy/schema/`."""

    format = serializers.ChoiceField(choices=[FORMAT])
    layers = ObjectsField()


class PolicyImportShape(Shape):
    """A policy in any form that can be read, and what becomes of it."""

    document = AnyField(
        help_text="A policy document, tinytools layers, an ordered policy or preferences. "
        "With another `format` than `json`, its text."
    )
    format = serializers.ChoiceField(
        choices=[str(syntax) for syntax in Syntax], required=False, default=str(Syntax.JSON)
    )
    mode = serializers.ChoiceField(
        choices=[str(mode) for mode in ImportMode],
        required=False,
        default=str(ImportMode.REPLACE),
        help_text="Whether it becomes the policy, or its layers are added to it.",
    )
    dry_run = serializers.BooleanField(required=False, help_text="Report only, write nothing.")
    version = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="The live version that was seen, 0 for none, unless `If-Match` says it. Needed "
        "to replace the policy.",
    )
    scope = serializers.ChoiceField(
        choices=Scope.values,
        required=False,
        help_text="Where rules belong that do not say it; likewise `target` and `name`.",
    )
    target = PatternsField(required=False)
    name = serializers.CharField(required=False, max_length=200)


class PolicyImported(AnswerShape):
    """What an import came to, or would come to. `policy` is what is live, after a dry run too."""

    form = serializers.ChoiceField(choices=[str(form) for form in Form])
    layers = serializers.IntegerField(help_text="How many were read.")
    dry_run = serializers.BooleanField()
    changed = serializers.BooleanField()
    changes = DiffEntry(many=True)
    policy = PolicyPlace()


def _field(option: Option) -> serializers.Field[Any, Any, Any, Any]:
    said: dict[str, Any] = {
        "required": option.required,
        "help_text": f"{option.label}: {option.about}.",
    }
    match option.kind:
        case OptionKind.PATTERN:
            return serializers.CharField(max_length=MAX_PATTERN_LENGTH, **said)
        case OptionKind.PATTERNS:
            item = serializers.CharField(max_length=MAX_PATTERN_LENGTH)
            return serializers.ListField(child=item, max_length=MAX_PATTERNS, **said)
        case OptionKind.TOGGLES:
            return serializers.DictField(child=serializers.ChoiceField(choices=Mode.values), **said)
        case OptionKind.LEVEL:
            levels = [str(level) for level in Permission]
            return serializers.ChoiceField(choices=levels, **said)


def _shape(recipe: Recipe) -> Any:
    fields = {option.name: _field(option) for option in recipe.options}
    fields["dry_run"] = serializers.BooleanField(required=False)
    words = recipe.name.title().replace("-", "")
    return inline_serializer(f"{words}Recipe", fields)


RecipeShape: Final = PolymorphicProxySerializer(
    component_name="Recipe",
    serializers=[_shape(recipe) for recipe in RECIPES.values()],
    resource_type_field_name=None,
)
