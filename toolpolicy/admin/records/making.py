"""A rule made from a recorded call: what it does, how far it reaches, and in which layer.

Nothing is written here. The choices open the form of a new rule, filled in; saving that is what
makes the rule.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.base import by
from toolpolicy.admin.layer_words import SCOPES
from toolpolicy.admin.layers import may_change
from toolpolicy.admin.records.acts import MAKES_RULES
from toolpolicy.admin.records.detail import RecordView
from toolpolicy.admin.records.reading import read
from toolpolicy.admin.tracing.answers import AnswerView
from toolpolicy.admin.tracing.links import rule_address
from toolpolicy.admin.words import Words
from toolpolicy.engine.faults import printable
from toolpolicy.engine.words import Outcome, Surface
from toolpolicy.models import Layer, Record
from toolpolicy.models.choices import Combining, Default, Effect, Mode, Scope
from toolpolicy.services import payloads, registry, usage, wording
from toolpolicy.services.baseline import BASELINE_NAMES
from toolpolicy.services.rule_from_call import Reach, reaches

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

View = Callable[..., HttpResponse]
TO_MAKE_A_RULE: Final = "to make a rule from the call"
DENY: Final = "deny"
ASK: Final = "ask"
ALLOW: Final = "allow"
# Wish: the word for it in a strict layer, in an ordered one, and what it does.
WISHES: Final[Mapping[str, tuple[str, str, Words]]] = {
    DENY: (Effect.DENY, Mode.OFF, _("Refuse such calls.")),
    ASK: (Effect.REQUIRE_APPROVAL, Mode.ASK, _("Let a person decide each time.")),
    ALLOW: (
        Effect.ALLOW,
        Mode.ON,
        _("Let them through where a layer refuses what it does not name."),
    ),
}
# What the reason of the rule says, by what its call met: it is stored, and told over the API.
REASONS: Final = {
    Outcome.DENY: "from the denied call of %(date)s by %(who)s",
    Outcome.NEEDS_APPROVAL: "from the call of %(date)s by %(who)s that needed approval",
    Outcome.ALLOW: "from the allowed call of %(date)s by %(who)s",
}
LISTING: Final = "from what was listed on %(date)s to %(who)s"
# By the context that a reach asks for.
WHO: Final[Mapping[tuple[str, ...], Words]] = {
    (): _("everybody"),
    ("agent",): _("this agent"),
    ("channel",): _("this channel"),
    ("agent", "channel"): _("this agent on this channel"),
}
NO_ARGUMENTS: Final = _(
    "An ordered layer does not look at arguments. Choose a strict layer, or one of the choices "
    "without an argument."
)


class MakingForm(forms.Form):
    """The three choices. The narrowest reach, and the strictest effect that changes the answer."""

    effect = forms.ChoiceField(
        widget=forms.RadioSelect({"class": "tp-options is-tall"}), label=_("What should happen")
    )
    reach = forms.TypedChoiceField(
        widget=forms.RadioSelect({"class": "tp-options is-tall"}),
        coerce=int,
        label=_("To which calls, from narrow to broad"),
    )
    layer = forms.TypedChoiceField(coerce=int, label=_("In which layer"))

    def __init__(
        self, answer: AnswerView, found: list[Reach], layers: list[Layer], data: QueryDict | None
    ) -> None:
        wish = preferred(answer)
        home = home_of(wish, answer, layers)
        start = {"effect": wish, "reach": 0, "layer": home.pk if home else None}
        super().__init__(data, label_suffix="", initial=start)
        self.found, self.layers = found, {layer.pk: layer for layer in layers}
        self._choices("effect", [(word, _wish_words(word)) for word in WISHES])
        self._choices("reach", [(n, _reach_words(reach)) for n, reach in enumerate(found)])
        self._choices("layer", [(layer.pk, _layer_words(layer)) for layer in layers])

    def _choices(self, name: str, choices: list[tuple[Any, Any]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Refuse an argument where none is looked at."""
        cleaned = self.cleaned_data
        if not self.errors and self._ordered() and self._reach().looks_at_arguments:
            self.add_error("reach", NO_ARGUMENTS)
        return cleaned

    def _ordered(self) -> bool:
        layer: Layer = self.layers[self.cleaned_data["layer"]]
        return layer.combining == Combining.LAST_MATCH

    def _reach(self) -> Reach:
        reach: int = self.cleaned_data["reach"]
        return self.found[reach]

    def query(self, *, reason: str) -> str:
        """Return what fills in the form of the new rule, with this reason."""
        strict, ordered, _ = WISHES[self.cleaned_data["effect"]]
        filled = {
            "layer": self.cleaned_data["layer"],
            "effect": ordered if self._ordered() else strict,
            "match": json.dumps(self._reach().match, ensure_ascii=False),
            "reason": reason,
        }
        if self._reach().when:
            filled["when"] = json.dumps(self._reach().when, ensure_ascii=False)
        return urlencode(filled)


def preferred(answer: AnswerView) -> str:
    """Return the strictest effect that would change the answer; a deny where none would."""
    if answer.outcome != Outcome.DENY or not answer.blocked:
        return DENY
    return ALLOW if opens(answer) else DENY


def opens(answer: AnswerView) -> bool:
    """Tell whether a new rule can let the call through what blocks it: no deny is overruled."""
    blocked = answer.blocked
    return blocked is not None and (blocked["rule"] is None or answer.reason_code == "rule_off")


def home_of(wish: str, answer: AnswerView, layers: Iterable[Layer]) -> Layer | None:
    """Return the layer to start from: the one that blocks for an allow, else the house's own."""
    held = list(layers)
    blocked = (answer.blocked or {}).get("layer")
    if wish == ALLOW:
        opening = [layer for layer in held if layer.name == blocked]
        if opening:
            return opening[0]
    strict = [layer for layer in held if layer.combining == Combining.DENY_OVERRIDES]
    own = [layer for layer in strict if layer.name not in BASELINE_NAMES]
    everywhere = [layer for layer in own if layer.scope == Scope.CONFIG and not layer.observe]
    return next(iter([*everywhere, *own, *strict, *held]), None)


def making_view(page: "ModelAdmin[Record]") -> View:
    """Return the view of the choices, which leads to the form of the rule."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        recorded = read(request, page, pk, MAKES_RULES, judged=True)
        payloads.look(**by(request), record=recorded.record, why=TO_MAKE_A_RULE)
        answer = recorded.answered
        if answer is None:
            raise Http404
        form = _form(request, recorded, answer)
        if form.is_bound and form.is_valid():
            query = form.query(reason=reason_of(recorded.record))
            return HttpResponseRedirect(f"{reverse('admin:toolpolicy_rule_add')}?{query}")
        context = {
            **page.admin_site.each_context(request),
            "title": gettext("Make a rule from this call"),
            "opts": page.opts,
            "view": recorded,
            "record": recorded.record,
            "answer": answer,
            "form": form,
            "final": answer.outcome == Outcome.DENY and not opens(answer),
            "rule_url": rule_address(request, answer),
        }
        return TemplateResponse(request, "admin/toolpolicy/record/rule.html", context)

    return view


def reason_of(record: Record) -> str:
    """Say from which call the rule was made; the person may say more."""
    called = record.surface == Surface.CALL
    form = REASONS[Outcome(record.outcome)] if called else LISTING
    who = printable(record.agent or record.actor_label)
    return form % {"date": record.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC"), "who": who}


def _form(request: HttpRequest, recorded: RecordView, answer: AnswerView) -> MakingForm:
    found = reaches(recorded.stored, registry=registry.live(), calls=usage.tool_calls())
    layers = [layer for layer in Layer.objects.in_order() if may_change(request, layer)]
    sent = request.GET if "effect" in request.GET else None
    return MakingForm(answer, found, layers, sent)


def _wish_words(wish: str) -> SafeString:
    effect, _, about = WISHES[wish]
    return format_html("<span>{} {}</span>", marks.effect_pill(effect), marks.sub(about))


def _reach_words(reach: Reach) -> SafeString:
    """Say a reach as the rule would say it, and what it meets."""
    rule = {"id": "new", "effect": "deny", "match": reach.match, "when": reach.when}
    said = wording.as_row({name: value for name, value in rule.items() if value})[1]
    met = marks.sub(f"{_tools(reach)}, {_calls(reach)}")
    words = (_reach_name(reach), marks.said(said.parts), met)
    return format_html("<span><b>{}</b><br>{}<br>{}</span>", *words)


def _tools(reach: Reach) -> str:
    said = ngettext("%(count)s registered tool", "%(count)s registered tools", reach.tools)
    return said % {"count": f"{reach.tools:,}"}


def _calls(reach: Reach) -> str:
    if reach.meets_a_part and reach.calls:
        said = ngettext(
            "some of %(count)s call in 7 days", "some of %(count)s calls in 7 days", reach.calls
        )
    else:
        said = ngettext("%(count)s call in 7 days", "%(count)s calls in 7 days", reach.calls)
    return said % {"count": f"{reach.calls:,}"}


def _reach_name(reach: Reach) -> str:
    who = WHO[tuple(reach.when)]
    if reach.looks_at_arguments:
        said = gettext("This value of %(argument)s, %(who)s")
        return said % {"argument": reach.match["arg"]["pointer"], "who": who}
    if "name" in reach.match:
        return gettext("This tool, %(who)s") % {"who": who}
    return gettext("Its whole family, %(who)s") % {"who": who}


def _layer_words(layer: Layer) -> str:
    ordered = layer.combining == Combining.LAST_MATCH
    facts = (
        str(SCOPES[layer.scope]),
        gettext("ordered") if ordered else gettext("strict"),
        gettext("otherwise deny") if layer.default == Default.DENY else "",
        gettext("observing") if layer.observe else "",
        "" if layer.enabled else gettext("switched off"),
    )
    return f"{layer.name} ({', '.join(filter(None, facts))})"
