"""The form of a rule: a field for each of its members, or all of it as JSON.

One of the two is in the form at a time, as `shown_as` says; each is made from what the other holds.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import rule_members
from toolpolicy.admin import rule_parts as parts
from toolpolicy.admin.faults import SEEN, MomentField, VersionedForm, WireField, sentence
from toolpolicy.admin.rule_members import EXCEPT, MATCH, ROWS, SINGLE, Members
from toolpolicy.admin.rule_parts import APPROVAL, WHEN
from toolpolicy.admin.rule_texts import ExamplesField
from toolpolicy.admin.stale import changes_of
from toolpolicy.admin.words import Words
from toolpolicy.engine.faults import Fault
from toolpolicy.engine.words import Surface
from toolpolicy.models import Layer, Rule
from toolpolicy.models.choices import Combining, Effect, Mode
from toolpolicy.services import preview
from toolpolicy.services.errors import InvalidInput, Stale

if TYPE_CHECKING:
    from django.http import QueryDict

SURFACES: Final[Mapping[str, Words]] = {
    Surface.CATALOG: _("lists tools"),
    Surface.SEARCH: _("searches tools"),
    Surface.CALL: _("calls a tool"),
}
FORM, JSON = "form", "json"
PREVIEW, SHOW = "_preview", "_show"
UNSHOWABLE: Final = _(
    "The fields cannot show all of this: an empty list, an exception of everything, a line break "
    "in a pattern or a list as an approval option has no field. Save it from here."
)
NO_MATCH: Final = _("Say which tools the rule is about. For every tool, write * as the name.")


class RuleForm(VersionedForm):
    """One rule. `layer` is set on the class for a rule that is not stored yet, and `prefill`."""

    layer: ClassVar[Layer | None] = None
    prefill: ClassVar[Members] = {}

    shown_as = forms.CharField(widget=forms.HiddenInput, required=False)
    json = WireField(nothing=None, label=_("The rule as JSON"), rows=18)
    effect = forms.ChoiceField(widget=forms.RadioSelect)
    surfaces = forms.MultipleChoiceField(
        choices=tuple(SURFACES.items()),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label=_("When the app"),
    )
    expires_at = MomentField(label=_("Expires (UTC)"))
    examples = ExamplesField(label=_("Calls that it is meant for"))

    class Meta:
        model = Rule
        fields = tuple(SINGLE)
        widgets = {"reason": forms.Textarea({"rows": 2})}  # noqa: RUF012  (Django's form)
        labels = {  # noqa: RUF012
            "rule_id": _("Name of the rule"),
            "reason": _("Reason, told to the agent and the person"),
            "enabled": _("Switched on"),
            "observe": _("Only observe: record what it would do, change nothing"),
        }
        help_texts = dict.fromkeys(("rule_id", "reason", "observe"), SafeString(""))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.only_shown = False
        if "effect" not in self.fields:  # somebody who only reads
            return
        layer, self._declared = self.home(), self.fields
        self.ordered = layer.combining == Combining.LAST_MATCH
        self.before = rule_members.stored(self.instance) if self.instance.pk else {}
        first = {"effect": Mode.OFF.value if self.ordered else Effect.DENY.value}
        members = self.before or {**first, **self.prefill}
        values = rule_members.flat(members)
        self._all = self._fields(members)
        self.fits = parts.fits(self._all, values)
        self.initial = {**values, SEEN: layer.version, "json": rule_members.tidy(members)}
        way = self.data.get("shown_as") if self.is_bound else None
        self._show_as(way if way in (FORM, JSON) else FORM if self.fits else JSON)
        self.only_shown = not {PREVIEW, SHOW}.isdisjoint(self.data)
        self._switch(self.data.get(SHOW, ""))

    # --- which fields ----------------------------------------------------------------------------

    def home(self) -> Layer:
        """Return the layer of the rule."""
        if self.instance.pk is not None:
            return cast("Rule", self.instance).layer
        if self.layer is None:
            msg = "a new rule needs a layer"
            raise TypeError(msg)
        return self.layer

    @property
    def by_json(self) -> bool:
        """Whether the rule is edited as JSON."""
        return "json" in self.fields

    def _fields(self, members: Members) -> dict[str, forms.Field]:
        """Return a field for everything, with a row for each that these members have."""
        fields = {name: self._declared[name] for name in SINGLE}
        words = Mode.values if self.ordered else Effect.values
        cast("forms.ChoiceField", fields["effect"]).choices = [(word, word) for word in words]
        fields["rule_id"].required = self.instance.pk is not None
        fields |= parts.matcher_fields(MATCH, ordered=self.ordered)
        if self.ordered:
            del fields["surfaces"]
        else:
            fields |= parts.matcher_fields(EXCEPT, ordered=False)
        for number in self._rows(WHEN, members):
            fields |= parts.row_fields(WHEN, number, ordered=self.ordered)
        for number in self._rows(APPROVAL, members):
            fields |= parts.option_fields(APPROVAL, number)
        return fields

    def _rows(self, member: str, members: Members) -> range:
        """Return the rows of a member: those that there are or that were filled in, and a free one.

        Of JSON, the fields that were sent along say nothing.
        """
        sent = {} if self.data.get("shown_as") == JSON else self.data
        count = len(members.get(member) or ())
        for number in range(parts.MOST_ROWS):
            if any(sent.get(f"{member}__{number}__{half}") for half in ("key", "value")):
                count = max(count, number + 1)
        return range(min(count + 1, parts.MOST_ROWS))

    def _show_as(self, way: str) -> None:
        """Keep the fields of one way."""
        kept = {"json": self._declared["json"]} if way == JSON else self._all
        self.fields = {name: self._declared[name] for name in (SEEN, "shown_as")} | kept
        self.initial["shown_as"] = way

    def _switch(self, way: str) -> None:
        """Make the other way's fields from what this one holds; where that is wrong, stay."""
        if way not in (FORM, JSON) or (way == JSON) is self.by_json or self.errors:
            return
        members = self.members()
        data = cast("QueryDict", self.data).copy()
        if way == JSON:
            data["json"] = self.as_json()
        else:
            try:
                preview.check(layer=self.home(), rule=self._row(), values=members)
            except InvalidInput as refused:
                self.show(refused)
                return
            # A rule keeps its name where the JSON leaves it out.
            values = rule_members.flat({"id": self.before.get("id", ""), **members})
            self._all = self._fields(members)
            if not parts.fits(self._all, values):
                self.add_error("json", UNSHOWABLE)
                return
            data = rule_members.sent(self._all, values, data)
        data["shown_as"] = way
        self.data = data
        self._errors: Any = None  # not cleaned yet, in Django's own terms
        self._show_as(way)

    def _row(self) -> Rule | None:
        return cast("Rule", self.instance) if self.instance.pk else None

    # --- what it says ----------------------------------------------------------------------------

    def is_valid(self) -> bool:
        """Tell whether it can be saved: what was only to be shown cannot."""
        return super().is_valid() and not self.only_shown

    def clean_json(self) -> Any:
        """Refuse what is no object; its members are the service's to judge."""
        value = self.cleaned_data["json"]
        if not isinstance(value, dict):
            raise ValidationError(gettext("Expected an object, for example {“effect”: “deny”}"))
        return value

    def clean(self) -> dict[str, Any]:
        """Ask of each row for both of its halves, and which tools are meant."""
        values = super().clean() or self.cleaned_data
        for member in ROWS:
            for name, told in parts.row_faults(member, self.cleaned_data, self.errors):
                self.add_error(name, told)
        saved = {PREVIEW, SHOW}.isdisjoint(self.data)
        if saved and not self.errors and self.lacks_match():
            self._refuse_no_match()
        return values

    def _refuse_no_match(self) -> None:
        """Say that no tool is named, after what else is wrong."""
        try:
            preview.check(layer=self.home(), rule=self._row(), values=self.members())
        except InvalidInput as refused:
            self.show(refused)
        else:
            self.add_error("json" if self.by_json else f"{MATCH}__name", NO_MATCH)

    def lacks_match(self) -> bool:
        """Tell whether a strict rule is about every tool though nobody said so.

        The policy's language reads it so. Here it is what was forgotten, unless it is stored.
        """
        meant = self.ordered or (self.before and not self.before[MATCH])
        return not meant and self.members().get(MATCH, {}) == {}

    def members(self) -> Members:
        """Return the members of the rule as the form has them; it holds no fault of its own."""
        if not self.is_bound:
            return self.before or rule_members.gathered(self.initial) | self.initial["json"]
        if self.by_json:
            return cast("Members", self.cleaned_data["json"])
        return rule_members.gathered(self.cleaned_data)

    def as_json(self) -> str:
        """Return the members laid out as JSON."""
        return json.dumps(rule_members.tidy(self.members()), indent=2, ensure_ascii=False)

    def new_values(self) -> Members:
        """Return the members of a new rule."""
        return self.members()

    def changed_values(self) -> Members:
        """Return the members that differ from what is stored."""
        # A rule keeps its name where the JSON leaves it out.
        members = {"id": self.before["id"], **self.members()}
        found = rule_members.changed(members, self.before)
        if not self.by_json:
            # What was not touched stays as it is stored: a field shows no fraction of a second,
            # and the items of an ordered rule as one text.
            stems = {name.partition(parts.SEPARATOR)[0] for name in self.changed_data}
            touched = {SINGLE.get(stem, stem) for stem in stems}
            found = {member: value for member, value in found.items() if member in touched}
        return found

    # --- what is wrong with it -------------------------------------------------------------------

    def recorded_as(self) -> dict[str, str]:
        return {"layer": self.home().name}

    def changed_meanwhile(self, refused: Stale) -> str:
        """Say also what was changed: it may be another rule of the layer."""
        changes = "; ".join(changes_of(self.home(), refused.found - refused.expected))
        said = super().changed_meanwhile(refused)
        told = gettext("Changed meanwhile: %(changes)s.") % {"changes": changes}
        return f"{said} {told}" if changes else said

    def placed(self, fault: Fault) -> tuple[str | None, str]:
        """Return the field at a fault's pointer, or the nearest one around it."""
        if self.by_json:
            return "json", sentence(fault)
        path = [piece for piece in fault.pointer.split("/") if piece]
        for length in range(len(path), 0, -1):
            name = next(self._at(path[:length]), None)
            if name is not None:
                return name, sentence(fault, "/" + "/".join(path[:length]))
        return None, sentence(fault)

    def _at(self, path: Iterable[str]) -> Iterator[str]:
        """Yield the fields that stand at this path of members, or below it."""
        member, *deeper = path
        if member in ROWS and deeper:
            for name in self.fields:
                if parts.is_key(member, name) and self.cleaned_data.get(name) == deeper[0]:
                    yield parts.row_of(name) + "value"
            return
        yield from (name for name, wire in SINGLE.items() if [wire] == [member, *deeper])
        at = parts.SEPARATOR.join([member, *deeper])
        yield from (n for n in self.fields if n == at or n.startswith(at + parts.SEPARATOR))
