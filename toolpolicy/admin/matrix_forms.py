"""What a matrix is asked for: which tools, which columns, in which context, which cells."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.simulator.links import parameter
from toolpolicy.admin.words import Words
from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.words import Outcome, Scope
from toolpolicy.models import PolicyVersion
from toolpolicy.services.matrix import Cell, Context, Matrix

PLACES: Final = (Scope.AGENT, Scope.CHANNEL, Scope.SESSION)
BY: Final = ((Scope.AGENT.value, _("Agents")), (Scope.CHANNEL.value, _("Channels")))
# The keys of `when` that get a field of their own.
MOST_KEYS: Final = 12
MOST_VERSIONS: Final = 100

Pick = Callable[[Cell], bool]
SHOW: Final[Mapping[str, tuple[Words, Pick | None]]] = {
    "": (_("Any"), None),
    "not_plain": (_("Not a plain yes"), lambda c: not c.plain),
    "allow": (_("Allowed"), lambda c: c.outcome is Outcome.ALLOW),
    "needs_approval": (_("Needs approval"), lambda c: c.outcome is Outcome.NEEDS_APPROVAL),
    "deny": (_("Denied"), lambda c: c.outcome is Outcome.DENY),
    "depends": (_("Depends on arguments"), lambda c: c.depends),
    "hidden": (_("Hidden, still callable"), lambda c: c.hidden),
    "differs": (_("Differs from the defaults"), lambda c: c.differs),
    "changed": (_("Changed between the versions"), lambda c: c.changed),
}


class MatrixForm(forms.Form):
    """The fields above the table; all of them stand in the address."""

    q = forms.CharField(
        required=False,
        label=_("Tools"),
        widget=forms.TextInput({"type": "search", "placeholder": _("name or family")}),
    )
    family = forms.ChoiceField(required=False, label=_("Family"))
    group = forms.ChoiceField(required=False, label=_("Group"))
    show = forms.ChoiceField(
        required=False, label=_("Outcome"), choices=[(name, SHOW[name][0]) for name in SHOW]
    )
    by = forms.ChoiceField(required=False, label=_("Columns"), choices=BY)
    also = forms.CharField(required=False, max_length=200, label=_("One more column"))
    version = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label=_("Version")
    )
    since = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label=_("Compared with")
    )
    agent = forms.CharField(required=False, max_length=200, label=_("For agent"))
    channel = forms.CharField(required=False, max_length=200, label=_("On channel"))
    session = forms.CharField(required=False, max_length=200, label=_("In session"))

    FIRST: Final = ("q", "family", "show", "by", "since")
    PLAIN: Final = ("group", "also", "version")

    def __init__(self, data: QueryDict, matrix: Matrix) -> None:
        self.keys = sorted(matrix.keys() - set(PLACES))[:MOST_KEYS]
        super().__init__(data, label_suffix="")
        # What the columns are is no field of its own.
        by, other = Scope.AGENT.value, Scope.CHANNEL.value
        if data.get("by") == Scope.CHANNEL:
            by, other = other, by
        self.fields.pop(by)
        for name, key in (("also", by), (other, other)):
            self.fields[name].widget.attrs["list"] = f"known-{key}"
        for key in self.keys:
            self.fields[parameter(key)] = forms.CharField(required=False, max_length=200, label=key)
        entries = matrix.entries
        self._choose("family", sorted({entry.family for entry in entries}))
        self._choose("group", sorted({entry.subject.group or "" for entry in entries} - {""}))
        versions = _versions(data)
        live = ("", gettext("%(number)s, live") % {"number": matrix.live})
        self._set("version", [live, *[(n, str(n)) for n in versions if n != matrix.live]])
        version = gettext("Version %(number)s")
        others = [(n, version % {"number": n}) for n in versions]
        self._set("since", [("", gettext("No other")), *others])

    def _choose(self, name: str, values: Iterable[str]) -> None:
        self._set(name, [("", gettext("Any")), *[(value, value) for value in values]])

    def _set(self, name: str, choices: list[tuple[Any, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  (for the types)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Refuse to look for changes where there is nothing to compare with."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("show") == "changed" and not cleaned.get("since"):
            self.add_error("since", gettext("Choose the version to compare with."))
        return cleaned

    @property
    def axis(self) -> str:
        """What the columns are."""
        return str(self.cleaned_data["by"] or Scope.AGENT)

    @property
    def pick(self) -> Pick | None:
        """Which cells a row is shown for; None: for any."""
        return SHOW[self.cleaned_data["show"]][1]

    @property
    def context(self) -> Context:
        """The context values that are the same in all columns."""
        names = {place.value: place.value for place in PLACES if place in self.fields}
        names |= {parameter(key): key for key in self.keys}
        return {key: text for name, key in names.items() if (text := self.cleaned_data[name])}

    def wants(self, entry: Entry) -> bool:
        """Tell whether a tool is among those asked for."""
        asked = self.cleaned_data
        if asked["family"] and entry.family != asked["family"]:
            return False
        if asked["group"] and entry.subject.group != asked["group"]:
            return False
        words = ascii_lower(asked["q"]).split()
        text = ascii_lower(f"{entry.family} {entry.name}")
        return all(word in text for word in words)

    def address(self, **changed: object) -> str:
        """Return the query of the same matrix, with some of it changed."""
        used = {name: text for name in self.fields if (text := self.data.get(name))}
        return f"?{urlencode({**used, **changed})}"

    def first(self) -> list[forms.BoundField]:
        """Return the fields that are always shown."""
        return [self[name] for name in self.FIRST]

    def others(self) -> list[forms.BoundField]:
        """Return the fields that unfold: the version, and the context of all columns."""
        return [self[name] for name in self.fields if name not in self.FIRST]

    def has_filters(self) -> bool:
        """Tell whether any field is in use."""
        return any(self.data.get(name) for name in self.fields)

    def others_used(self) -> bool:
        """Tell whether one of those is in use, so that they stand open."""
        return any(field.data or field.errors for field in self.others())


def _versions(data: QueryDict) -> list[int]:
    """Return the numbers of the latest versions, and of older ones that are asked for."""
    newest = PolicyVersion.objects.order_by("-number").values_list("number", flat=True)
    found = list(newest[:MOST_VERSIONS])
    asked = {int(text) for name in ("version", "since") if (text := data.get(name, "")).isdecimal()}
    return sorted({*found, *(n for n in asked if 0 < n < min(found, default=1))}, reverse=True)
