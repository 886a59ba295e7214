"""The policy as people edit it: layers and their rules.

These rows are the working copy; decisions are judged by what `toolpolicy.models.versions` holds.
All writes go through `toolpolicy.services.policies`.
"""

from typing import Self

from django.core.validators import MaxValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.models.base import check, one_of, unique
from toolpolicy.models.choices import Combining, Default, Effect, Mode, Scope
from toolpolicy.models.fields import ExactJSONField

# Rows on the move wait above it (services._policy_store).
MAX_POSITION = 999_999
AT_MOST = MaxValueValidator(MAX_POSITION, f"a position is 0 to {MAX_POSITION:,}")
EFFECT_WORDS = (*Effect.values, *Mode.values)
EFFECT_CHOICES = ((_("strict rules"), Effect.choices), (_("ordered rules"), Mode.choices))


class LayerQuerySet(models.QuerySet["Layer"]):
    """Chainable reads of layers."""

    def enabled(self) -> Self:
        """Keep the layers that are switched on."""
        return self.filter(enabled=True)

    def ranked(self) -> Self:
        """Add each layer's `rank`: its scope's place, from weakest to strongest."""
        ranks = [models.When(scope=scope, then=rank) for rank, scope in enumerate(Scope)]
        return self.annotate(
            rank=models.Case(*ranks, output_field=models.PositiveSmallIntegerField())
        )

    def in_order(self) -> Self:
        """Sort as layers apply: scope from weakest to strongest, position, name (SPEC §5)."""
        return self.ranked().order_by("rank", "position", "name")


class Layer(models.Model):
    """A named list of rules with one scope and one way of combining (SPEC §3 to §5)."""

    name = models.CharField(
        _("name"), max_length=200, help_text=_("Shown in refusals, for example `house rules`.")
    )
    scope = models.CharField(_("scope"), max_length=16, choices=Scope.choices, default=Scope.CONFIG)
    target = ExactJSONField(
        null=True,
        blank=True,
        help_text=_("Patterns over the agent, channel or session; none for the scope config."),
    )
    combining = models.CharField(
        _("combining"),
        max_length=16,
        choices=Combining.choices,
        default=Combining.DENY_OVERRIDES,
        help_text=_("Fixed once the layer exists."),
    )
    default = models.CharField(
        max_length=8,
        choices=Default.choices,
        default=Default.ALLOW,
        blank=True,
        help_text=_("What a strict layer says when no rule decides; empty for an ordered one."),
    )
    position = models.PositiveIntegerField(
        validators=(AT_MOST,), help_text=_("Order among the layers of the same scope.")
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    fail_safe = models.BooleanField(
        default=True,
        help_text=_("Read what cannot be checked in the strict way. Strict layers only."),
    )
    may_waive_approval = models.BooleanField(
        default=False, help_text=_("Whether rules here may approve calls automatically.")
    )
    observe = models.BooleanField(
        _("observe"),
        default=False,
        help_text=_("Report what this layer would change, but do not enforce it."),
    )
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(
        null=True, blank=True, help_text=_("The first moment at which the layer no longer applies.")
    )
    description = models.TextField(_("description"), blank=True)
    version = models.PositiveIntegerField(
        default=1, editable=False, help_text=_("Counts changes of the layer and its rules.")
    )

    objects = LayerQuerySet.as_manager()

    class Meta:
        verbose_name = _("layer")
        verbose_name_plural = _("layers")
        ordering = ("scope", "position")
        permissions = (("change_baseline", "Can change the baseline layers"),)
        constraints = (
            unique("layer_name_unique", ("name",), "another layer has this name"),
            unique(
                "layer_position_unique",
                (
                    "scope",
                    "position",
                ),
                "another layer of this scope has this position",
            ),
            check("layer_name_given", ~models.Q(name=""), "a layer needs a name"),
            check(
                "layer_scope_known",
                one_of("scope", Scope),
                "the scope is config, agent, channel or session",
            ),
            check(
                "layer_combining_known",
                one_of("combining", Combining),
                "the combining is deny_overrides or last_match",
            ),
            check(
                "layer_target_by_scope",
                models.Q(scope=Scope.CONFIG, target__isnull=True)
                | (~models.Q(scope=Scope.CONFIG) & models.Q(target__isnull=False)),
                "a config layer has no target; every other layer needs one",
            ),
            check(
                "layer_default_by_combining",
                models.Q(combining=Combining.LAST_MATCH, default="")
                | (models.Q(combining=Combining.DENY_OVERRIDES) & one_of("default", Default)),
                "a strict layer defaults to allow or deny; an ordered layer has no default",
            ),
            check(
                "layer_fail_safe_is_strict",
                ~models.Q(combining=Combining.LAST_MATCH, fail_safe=True),
                "fail_safe is for strict layers",
            ),
            check(
                "layer_times_in_order",
                models.Q(valid_from__isnull=True)
                | models.Q(valid_until__isnull=True)
                | models.Q(valid_from__lt=models.F("valid_until")),
                "valid_from must be before valid_until",
            ),
            check("layer_position_positive", models.Q(position__gte=0), "a position is 0 or more"),
            check("layer_version_positive", models.Q(version__gte=1), "a version is 1 or more"),
        )

    def __str__(self) -> str:
        return printable(self.name)


class RuleQuerySet(models.QuerySet["Rule"]):
    """Chainable reads of rules."""

    def enabled(self) -> Self:
        """Keep the rules that are switched on."""
        return self.filter(enabled=True)

    def in_order(self) -> Self:
        """Sort by layer, then as written."""
        return self.order_by("layer_id", "position")


class Rule(models.Model):
    """One rule of a layer. Its JSON members have the wire form, checked by the engine."""

    layer = models.ForeignKey(
        Layer,
        verbose_name=_("layer"),
        on_delete=models.CASCADE,
        related_name="rules",
        db_index=False,  # the two unique constraints below start with it
    )
    rule_id = models.CharField(
        _("id"),
        max_length=200,
        validators=(
            RegexValidator(r"^[A-Za-z0-9._:-]+\Z", "use letters, digits and `. _ : -` only"),
        ),
        help_text=_("Names the rule in refusals and reports; unique in its layer."),
    )
    effect = models.CharField(
        _("effect"),
        max_length=16,
        choices=EFFECT_CHOICES,
        help_text=_("An effect or, in an ordered layer, a mode."),
    )
    surfaces = ExactJSONField(
        default=list, blank=True, help_text=_("catalog, search, call; none means all of them.")
    )
    match = ExactJSONField(
        default=dict, blank=True, help_text=_("Which tools and calls it is about.")
    )
    except_match = ExactJSONField(
        _("except"), null=True, blank=True, help_text=_("What is carved out of the match.")
    )
    when = ExactJSONField(
        default=dict, blank=True, help_text=_("Context values that must be present and match.")
    )
    reason = models.TextField(
        _("reason"), blank=True, help_text=_("Told to the caller when the rule refuses.")
    )
    position = models.PositiveIntegerField(
        validators=(AT_MOST,), help_text=_("The index of the rule in its layer, from 0.")
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    observe = models.BooleanField(
        _("observe"),
        default=False,
        help_text=_("Report what this rule would change, but do not enforce it."),
    )
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text=_("The first moment at which the rule no longer applies.")
    )
    examples = ExactJSONField(
        default=list, blank=True, help_text=_("Calls that the rule is meant for.")
    )
    approval = ExactJSONField(
        default=dict, blank=True, help_text=_("Options of the approval it asks for.")
    )

    objects = RuleQuerySet.as_manager()

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("rules")
        ordering = ("layer_id", "position")
        constraints = (
            unique(
                "rule_id_unique",
                (
                    "layer",
                    "rule_id",
                ),
                "another rule of this layer has this id",
            ),
            unique(
                "rule_position_unique",
                (
                    "layer",
                    "position",
                ),
                "another rule of this layer has this position",
            ),
            check("rule_id_given", ~models.Q(rule_id=""), "a rule needs an id"),
            check(
                "rule_effect_known",
                models.Q(effect__in=EFFECT_WORDS),
                "the effect is no effect and no mode",
            ),
            check("rule_position_positive", models.Q(position__gte=0), "a position is 0 or more"),
        )

    def __str__(self) -> str:
        return self.rule_id
