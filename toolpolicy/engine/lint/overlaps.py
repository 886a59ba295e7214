"""Rules of strict layers that change nothing because of others, or of what their layer says anyway.

Each may be removed, and all of them together, without any decision about a registered tool
becoming another one.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.covering import Coverer, Covering, Reach, Refusal, reaches, ways
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.placed import Placed
from toolpolicy.engine.lint.rows import LISTINGS
from toolpolicy.engine.values import Rule, StrictLayer
from toolpolicy.engine.words import Default, Effect, Surface

# What leaves nothing of an effect where it fires as well: the same, then what is stronger.
_STRONGER: Final[dict[Effect, tuple[Effect, ...]]] = {
    Effect.DENY: (),
    Effect.HIDE: (Effect.DENY,),
    Effect.ALLOW: (Effect.DENY,),
    Effect.REQUIRE_APPROVAL: (Effect.DENY,),
    Effect.AUTO_APPROVE: (Effect.REQUIRE_APPROVAL, Effect.DENY),
}
_OPPOSITE: Final = {
    Effect.ALLOW: Effect.DENY,
    Effect.AUTO_APPROVE: Effect.REQUIRE_APPROVAL,
}
MOST_NAMED: Final = 3


def check_overlaps(known: Known) -> Iterator[Finding]:
    """Find rules that other rules, or the default of a layer, leave nothing to do."""
    covering = Covering(known)
    # Of several that say the same, the first one stays.
    for placed in reversed(known.rules):
        layer, rule = placed.layer, placed.rule
        if not isinstance(rule, Rule) or not isinstance(layer, StrictLayer):
            continue
        # The baseline is a floor, kept whatever else there is.
        if known.is_installed(placed):
            continue
        idle = rule.effect is Effect.ALLOW and layer.default is Default.ALLOW
        found = _check(known, covering, placed, rule.effect, idle=idle)
        if found is not None:
            covering.dropped.add(id(placed))
            yield found


def _check(
    known: Known, covering: Covering, placed: Placed, effect: Effect, *, idle: bool
) -> Finding | None:
    if known.rows and not placed.rows:
        return None
    found = _covered(known, covering, placed, effect)
    if idle and (found is None or found.code is not FindingCode.CONTRADICTORY):
        return placed.said(
            FindingCode.ALLOW_UNDER_ALLOW,
            "the layer allows by default: an `allow` in it does nothing",
            tools=known.names(placed.rows),
        )
    return found


def _covered(known: Known, covering: Covering, placed: Placed, effect: Effect) -> Finding | None:
    if effect is Effect.AUTO_APPROVE and not placed.waives:
        return None
    surfaces = LISTINGS if effect is Effect.HIDE else tuple(Surface)
    for boxes in ways(placed.box):
        where = reaches(known, placed, surfaces, boxes)
        found = _covered_in(known, covering, placed, effect, where)
        if found is not None:
            return found
    return None


def _covered_in(
    known: Known, covering: Covering, placed: Placed, effect: Effect, where: Sequence[Reach]
) -> Finding | None:
    every = (effect, *_STRONGER[effect])
    if not where or any(covering.left(placed, reach, every) for reach in where):
        return None
    same = covering.coverers(placed, where, (effect,))
    if same is not None and (effect is Effect.DENY or not any(map(_is_default, same))):
        return told(known, FindingCode.REDUNDANT, placed, same)
    found = covering.coverers(placed, where, every)
    if found is None:
        return None
    contrary = len(found) == 1 and _contradicts(placed, effect, found[0])
    code = FindingCode.CONTRADICTORY if contrary else FindingCode.SHADOWED
    return told(known, code, placed, found)


def _is_default(coverer: Coverer) -> bool:
    return isinstance(coverer, Refusal)


def _contradicts(placed: Placed, effect: Effect, by: Coverer) -> bool:
    """Tell whether two rules of one layer say the opposite of exactly the same."""
    if not isinstance(by, Placed) or by.place != placed.place:
        return False
    mine, theirs = placed.rule, by.rule
    return (
        isinstance(mine, Rule)
        and isinstance(theirs, Rule)
        and theirs.effect is _OPPOSITE.get(effect)
        and by.rows == placed.rows
        and (by.box, by.span, set(theirs.on)) == (placed.box, placed.span, set(mine.on))
        and mine.exception == theirs.exception
    )


_WORDS: Final = {
    FindingCode.REDUNDANT: "it adds nothing: wherever it fires, {} it already",
    FindingCode.SHADOWED: "it never decides: wherever it fires, {} it",
    FindingCode.CONTRADICTORY: "it contradicts another rule about the same tools: {} it",
    FindingCode.ALWAYS_OVERRULED: "it never decides: wherever it matches, {} it",
}
# Of one that leaves nothing to it, and of several.
_VERBS: Final = {
    FindingCode.REDUNDANT: ("covers", "cover"),
    FindingCode.SHADOWED: ("wins over", "win over"),
    FindingCode.CONTRADICTORY: ("wins over", "win over"),
    FindingCode.ALWAYS_OVERRULED: ("comes after", "come after"),
}


def told(known: Known, code: FindingCode, placed: Placed, by: Sequence[Coverer]) -> Finding:
    """Return the finding that others leave nothing to a rule."""
    names = [_named(one, placed) for one in by[:MOST_NAMED]]
    if len(by) > MOST_NAMED:
        names.append(f"{len(by) - MOST_NAMED} more")
    verb = _VERBS[code][len(by) > 1]
    message = _WORDS[code].format(f"{' and '.join(names)} {verb}")
    witness = [one.wire() for one in by[:20]]
    return placed.said(code, message, by=witness, tools=known.names(placed.rows))


def _named(one: Coverer, placed: Placed) -> str:
    layer = shown(one.layer.name or "")
    if isinstance(one, Refusal):
        return f"the default of the layer {layer}"
    where = "" if one.place == placed.place else f" of the layer {layer}"
    return f"the rule {shown(one.name)}{where}"
