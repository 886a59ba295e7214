"""What differs between two policies, in words: layers, and rules with the changed words marked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.layer_words import kind_of, otherwise_of, reach_of
from toolpolicy.admin.words import Words, filled
from toolpolicy.engine import canonical
from toolpolicy.engine.faults import printable
from toolpolicy.engine.sentence_changes import Fate, Run, changed_words
from toolpolicy.engine.sentences import Sentence
from toolpolicy.models import Rule
from toolpolicy.services import differences, policies, wording
from toolpolicy.services.differences import Member, Told
from toolpolicy.services.policies import Imported

Wire = Mapping[str, Any]
# A page is read by a person: of very much it shows the beginning and counts the rest.
MOST_CHANGES: Final = 100
MOST_LAYERS: Final = 10
MOST_RULES: Final = 20
LONGEST: Final = 200
# Kind: its word, and how many there are of it.
WORDS: Final[Mapping[str, tuple[Words, Words]]] = {
    "added": (_("Added"), _("%(count)s added")),
    "removed": (_("Removed"), _("%(count)s removed")),
    "changed": (_("Changed"), _("%(count)s changed")),
    "moved": (_("Moved"), _("%(count)s moved")),
}


@dataclass(frozen=True, kw_only=True)
class LayerShown:
    """A layer that is not stored, ready for `layer/preview.html`."""

    name: str
    facts: tuple[str, ...]
    rules: Sequence[tuple[Rule, Sentence]]
    more: int = 0

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "LayerShown":
        """Return the layer of an entry of a policy document."""
        layer, rules = wording.as_rows(entry)
        facts = (kind_of(layer), reach_of(layer), otherwise_of(layer))
        shown = rules[:MOST_RULES]
        return cls(name=layer.name, facts=facts, rules=shown, more=len(rules) - len(shown))


@dataclass(frozen=True, kw_only=True)
class ChangeShown:
    """One difference: what became of which layer or rule, and the rule with what changed marked."""

    word: Words
    layer: str
    rule: str = ""
    grade: str = ""
    said: SafeString | str = ""
    detail: str = ""


def count_of(changes: Sequence[Wire]) -> str:
    """Say how many changes of which kind there are."""
    counts = Counter(change["change"] for change in changes)
    return ", ".join(filled(said, count=counts[kind]) for kind, (word, said) in WORDS.items())


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What differs between two policies, as a page shows it; `way`: all of it goes one way."""

    count: str
    way: str
    changes: list[ChangeShown]
    more: int

    @classmethod
    def of(cls, changes: Sequence[Wire]) -> "Differences":
        """Return differences as `policies.diff` says them."""
        return cls(
            count=count_of(changes),
            way=policies.direction_of(changes) or "",
            changes=[_shown(change) for change in changes[:MOST_CHANGES]],
            more=max(0, len(changes) - MOST_CHANGES),
        )


@dataclass(frozen=True, kw_only=True)
class Report:
    """What an import would change, as its page shows it."""

    imported: Imported
    differences: Differences
    layers: list[LayerShown]

    @classmethod
    def of(cls, imported: Imported) -> "Report":
        """Return the report of a dry run."""
        changes = imported.changes
        new = (change["after"] for change in changes if _is_new_layer(change))
        return cls(
            imported=imported,
            differences=Differences.of(changes),
            layers=[LayerShown.of(entry) for entry in islice(new, MOST_LAYERS)],
        )


def _is_new_layer(change: Wire) -> bool:
    return change["change"] == "added" and "rule" not in change


def _shown(change: Wire) -> ChangeShown:
    kind: str = change["change"]
    before: Any = change.get("before")
    after: Any = change.get("after")
    named: dict[str, Any] = {
        "word": WORDS[kind][0],
        "layer": change["layer"],
        "rule": change.get("rule", ""),
        "grade": change.get("grade", ""),
    }
    if kind == "moved":
        if "rule" in change:
            said, first = gettext("from place %(old)s to %(new)s"), 1
        else:
            said, first = gettext("from position %(old)s to %(new)s"), 0
        return ChangeShown(**named, detail=said % {"old": before + first, "new": after + first})
    if "rule" not in change:
        return _layer(named, change)
    return _rule(named, differences.told(change, marked=True))


def _rule(named: dict[str, Any], told: Told) -> ChangeShown:
    old, new = told.before, told.after
    said = _marked(old, new) if old and new else _came_or_went(old, new)
    return ChangeShown(**named, said=said, detail=_members(told.members))


def _pill(row: Rule) -> SafeString:
    return marks.effect_pill(row.effect, observing=row.observe)


def _came_or_went(
    old: tuple[Rule, Sentence] | None, new: tuple[Rule, Sentence] | None
) -> SafeString:
    fate = Fate.REMOVED if new is None else Fate.ADDED
    [(row, sentence)] = [one for one in (old, new) if one is not None]
    return format_html("{} {}", _pill(row), marks.runs([Run(fate, sentence.parts)]))


def _marked(old: tuple[Rule, Sentence], new: tuple[Rule, Sentence]) -> SafeString:
    """Say a rule once, with the words that went and those that came marked."""
    (before, was), (after, now) = old, new
    pill = _pill(after)
    if was.verb != now.verb:
        pill = format_html("<del>{}</del> <ins>{}</ins>", _pill(before), pill)
    return format_html("{} {}", pill, marks.runs(changed_words(was.parts, now.parts)))


def _layer(named: dict[str, Any], change: Wire) -> ChangeShown:
    before, after = change.get("before"), change.get("after")
    detail = _members(differences.told(change).members)
    if before is not None and after is not None:
        return ChangeShown(**named, detail=detail)
    count = len((after or before)["policy"]["rules"])  # type: ignore[index]
    said = ngettext("with its %(count)s rule", "with its %(count)s rules", count)
    rules = said % {"count": count} if count else gettext("without rules")
    return ChangeShown(**named, detail=format_html("{}{}", rules, detail))


def _members(members: Sequence[Member]) -> SafeString:
    """Say which members differ, each with its values; of lists, which elements went and came."""
    return format_html_join(
        "", "<p>{}: {}</p>", ((marks.code(one.name), _values(one)) for one in members)
    )


def _values(member: Member) -> SafeString:
    if member.new:
        return _value(member.after)
    if not member.added and not member.removed:
        return format_html("{} → {}", _value(member.before), _value(member.after))
    pieces = (
        (word, format_html_join(" ", "{}", ((_value(one),) for one in some)))
        for word, some in ((gettext("added"), member.added), (gettext("removed"), member.removed))
        if some
    )
    return format_html_join(", ", "{} {}", pieces)


def _value(value: Any) -> SafeString:
    if value is None:
        return marks.sub(gettext("nothing"))
    text = printable(canonical.dumps(value))
    return format_html("<code>{}</code>", text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
