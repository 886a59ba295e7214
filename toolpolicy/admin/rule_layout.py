"""How the fields of a rule stand on its page."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.forms import BoundField
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.rule_forms import UNSHOWABLE, RuleForm
from toolpolicy.admin.rule_members import EXCEPT, IN_ORDER, MATCH, ONLY_STRICT
from toolpolicy.admin.rule_parts import APPROVAL, SEPARATOR, WHEN, is_key, row_of
from toolpolicy.admin.words import Words
from toolpolicy.models.choices import Effect, Mode

MEANS: Final[Mapping[str, Words]] = {
    Effect.ALLOW: _("Admits, where the layer’s default denies."),
    Effect.DENY: _("Refuses. Nothing overrules it."),
    Effect.REQUIRE_APPROVAL: _("Waits until a person says yes."),
    Effect.HIDE: _("Not listed, still callable."),
    Effect.AUTO_APPROVE: _("Spares the question, unless another rule asks."),
    Mode.ON: _("Listed and runs."),
    Mode.ASK: _("Listed, runs after a person said yes."),
    Mode.OFF: _("Neither listed nor callable."),
    Mode.AUTO: _("No opinion: an earlier match counts."),
}
_PAIRS: Final = ("family", "tags")
_MORE: Final = ("group", "parent", "verb", "method", "scope")
_TICKS: Final = ("side_effects", "category", "exposure")
_LEVELS: Final = ("permission_at_least", "permission_at_most")


def effects(form: RuleForm) -> list[tuple[SafeString, str, SafeString, Words, Words]]:
    """Return each effect: its radio button, its tone, icon and word, and what it does."""
    found = []
    for radio in form["effect"]:
        value = str(radio.data["value"])
        word, shape, tone = marks.EFFECTS[value]
        found.append((radio.tag(), tone, marks.icon(shape), word, MEANS[value]))
    return found


def matcher(form: RuleForm, at: str) -> dict[str, Any]:
    """Return the fields of a matcher by how they stand together; what is seldom used is folded."""

    def some(names: Any) -> list[BoundField]:
        full = [f"{at}{SEPARATOR}{name}" for name in names]
        return [form[name] for name in full if name in form.fields]

    known = {*("name", *_PAIRS, *_MORE, *_TICKS, *_LEVELS)}
    paths = [n.removeprefix(f"{at}{SEPARATOR}") for n in form.fields if n.startswith(f"{at}__")]
    argument = [path for path in paths if path.startswith("arg")]
    hints = [path for path in paths if path not in known and path not in argument]
    return {
        "at": at,
        "name": some(("name",))[0],
        "pairs": some(_PAIRS),
        "levels": some(_LEVELS),
        "hints": some(hints),
        "ticks": some(_TICKS),
        "more": some(_MORE),
        "more_used": _used(some((*_MORE, "category", "exposure"))),
        "argument": some(argument),
    }


def _used(fields: list[BoundField]) -> bool:
    return any(field.value() or field.errors for field in fields)


def rows(form: RuleForm, member: str) -> Iterator[tuple[BoundField, BoundField]]:
    """Yield the rows of a member, each its key and its value."""
    for name in form.fields:
        if is_key(member, name):
            yield form[name], form[row_of(name) + "value"]


def laid_out(form: RuleForm) -> dict[str, Any]:
    """Return what the page of a rule shows of its form."""
    if form.by_json:
        return {
            "by_json": True,
            "json": form["json"],
            "members": [name for name in IN_ORDER if not (form.ordered and name in ONLY_STRICT)],
            "why": "" if form.fits else UNSHOWABLE,
        }
    excepting = [form[name] for name in form.fields if name.startswith(f"{EXCEPT}{SEPARATOR}")]
    return {
        "effects": effects(form),
        "effect_errors": form["effect"].errors,
        "surfaces": None if form.ordered else form["surfaces"],
        "match": matcher(form, MATCH),
        "except": None if form.ordered else matcher(form, EXCEPT),
        "except_used": _used(excepting),
        "when": list(rows(form, WHEN)),
        "options": list(rows(form, APPROVAL)),
        "options_used": _used([field for row in rows(form, APPROVAL) for field in row]),
        "ordered": form.ordered,
    }
