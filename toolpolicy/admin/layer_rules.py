"""The rules on their layer's page: found by a form, paged by position, each with what it did."""

from datetime import datetime
from typing import Any, Final

from django import forms
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.charts import sparkline
from toolpolicy.admin.marks import EFFECTS
from toolpolicy.models import Layer, Rule
from toolpolicy.models.choices import Combining, Effect, Mode
from toolpolicy.services import layer_rules, lint, wording
from toolpolicy.services.usage import NO_HITS

PER_PAGE: Final = 40
AFTER, BEFORE = "after", "before"
STATES: Final = (
    ("", _("Any")),
    ("on", _("Enforced")),
    ("observe", _("Observing")),
    ("off", _("Switched off")),
    ("findings", _("With findings")),
)


class RuleFilter(forms.Form):
    """Which rules of a layer to show."""

    q = forms.CharField(
        required=False,
        label=_("Find a rule or a tool"),
        widget=forms.TextInput(
            {
                "type": "search",
                "placeholder": "delete, mcp__github__*, finance",
                "translate": "no",
            }
        ),
    )
    effect = forms.ChoiceField(required=False)
    state = forms.ChoiceField(required=False, choices=STATES, label=_("State"))

    def __init__(self, data: QueryDict, layer: Layer) -> None:
        super().__init__(data, label_suffix="", auto_id="find_%s")
        self.layer = layer
        words = Mode if layer.combining == Combining.LAST_MATCH else Effect
        choices = [("", gettext("Any")), *((str(word), EFFECTS[word][0]) for word in words)]
        self.fields["effect"] = forms.ChoiceField(
            required=False, choices=choices, label=_("Effect")
        )

    def used(self) -> dict[str, str]:
        """Return what was filled in, as the address has it."""
        return {name: text for name in self.fields if (text := self.data.get(name))}

    def narrow(self, rules: QuerySet[Rule], now: datetime) -> QuerySet[Rule]:
        """Return the rules that are asked for; none when the form is wrong."""
        if not self.is_valid():
            return rules.none()
        asked = self.cleaned_data
        if asked["effect"]:
            rules = rules.filter(effect=asked["effect"])
        if asked["state"] == "findings":
            found = lint.findings(now).by_layer(self.layer.name)
            rules = rules.filter(rule_id__in={one.rule for one in found if one.rule})
        elif asked["state"]:
            rules = rules.filter(enabled=asked["state"] != "off")
            if asked["state"] != "off":
                rules = rules.filter(observe=asked["state"] == "observe")
        return rules.filter(self._said(asked["q"], now)) if asked["q"] else rules

    def _said(self, text: str, now: datetime) -> Q:
        """Look for a text in what the rules say, and for rules about a tool of this name."""
        named = layer_rules.about_tool(layer=self.layer.name, name=text, now=now)
        columns = ("rule_id", "reason", "match_text", "when_text", "except_text")
        found = Q(rule_id__in=named)
        for column in columns:
            found |= Q(**{f"{column}__icontains": text})
        return found


def listed(request: HttpRequest, layer: Layer) -> dict[str, Any]:
    """Return one page of a layer's rules as the page shows them."""
    now = timezone.now()
    form = RuleFilter(request.GET, layer)
    texts = {
        "match_text": Cast("match", TextField()),
        "when_text": Cast("when", TextField()),
        "except_text": Cast("except_match", TextField()),
    }
    found = form.narrow(layer.rules.annotate(**texts).order_by("position"), now)
    rules, earlier, later = _page(found, request)
    for rule in rules:
        rule.layer = layer  # spares a query for each
    known = layer_rules.known(layer=layer.name, rules={rule.rule_id for rule in rules}, now=now)
    used = form.used()
    return {
        "rules": [_shown(rule, known) for rule in rules],
        "rules_count": known.count,
        "find": form,
        "narrowed": bool(used),
        "first_place": rules[0].position if rules else 0,
        "earlier": f"?{urlencode(used | {BEFORE: str(rules[0].position)})}" if earlier else "",
        "later": f"?{urlencode(used | {AFTER: str(rules[-1].position)})}" if later else "",
        "back": request.GET.urlencode(),
        "findings": known.findings.about_layer(layer.name),
    }


def _page(found: QuerySet[Rule], request: HttpRequest) -> tuple[list[Rule], bool, bool]:
    """Return the rules of a page, and whether there are earlier and later ones."""
    before, after = (_position(request.GET.get(name, "")) for name in (BEFORE, AFTER))
    if before is not None:
        rows = list(found.filter(position__lt=before).reverse()[: PER_PAGE + 1])
        return rows[:PER_PAGE][::-1], len(rows) > PER_PAGE, bool(rows)
    rows = list((found if after is None else found.filter(position__gt=after))[: PER_PAGE + 1])
    return rows[:PER_PAGE], after is not None and bool(rows), len(rows) > PER_PAGE


def page_with(rule: Rule) -> str:
    """Return the query of the page that holds a rule, unless it is the first one."""
    before = rule.position // PER_PAGE * PER_PAGE - 1
    return f"?{AFTER}={before}" if before > 0 else ""


def _position(text: str) -> int | None:
    most_digits = 9  # what has more is no position
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def _shown(rule: Rule, known: layer_rules.Known) -> dict[str, Any]:
    hits = known.hits.get(rule.rule_id)
    return {
        "rule": rule,
        "sentence": wording.sentence_of(rule),
        "tools": known.tools.get(rule.rule_id, 0),
        "hits": hits,
        "bars": sparkline(hits.days if hits else NO_HITS),
        "findings": known.findings.by_rule(rule.layer.name, rule.rule_id),
    }
