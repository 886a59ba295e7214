"""Rules that grant much in a narrow place, and refusals that hold on listings alone."""

from collections.abc import Iterator
from typing import Final

from toolpolicy.engine.catalog import CallState
from toolpolicy.engine.compiled_layers import numbers_of
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.conditions import example
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.overruled import mode_of
from toolpolicy.engine.lint.placed import Placed
from toolpolicy.engine.values import Rule, StrictLayer
from toolpolicy.engine.words import Default, Effect, Mode, ReasonCode, Scope, Surface

MOST_TRIED: Final = 8


def check_grants(known: Known) -> Iterator[Finding]:
    """Find broad grants at narrow scopes, and what is kept from listings yet can be called."""
    for placed in known.rules:
        if placed.layer.settings.scope in (Scope.CHANNEL, Scope.SESSION):
            yield from _broad(known, placed)
    for placed in known.strict:
        if placed.effect is Effect.DENY and not placed.observes:
            yield from _unlisted(known, placed)
    yield from _unlisted_by_default(known)


# --- broad grants --------------------------------------------------------------------------------


def _broad(known: Known, placed: Placed) -> Iterator[Finding]:
    scope = placed.layer.settings.scope
    if placed.effect is Effect.AUTO_APPROVE:
        idle = "" if placed.layer.settings.may_waive_approval else ", though the layer may not"
        message = f"it spares the approval for one {scope}{idle}"
    elif _grants(placed) and _is_broad(known, placed):
        message = f"it opens every registered tool for one {scope}"
    else:
        return
    tools = known.names(placed.rows)
    yield placed.said(FindingCode.BROAD_GRANT, message, scope=str(scope), tools=tools)


def _grants(placed: Placed) -> bool:
    layer = placed.layer
    if isinstance(layer, StrictLayer):
        return placed.effect is Effect.ALLOW and layer.default is Default.DENY
    return mode_of(placed) is Mode.ON


def _is_broad(known: Known, placed: Placed) -> bool:
    return placed.rows == known.everyone if known.rows else not placed.rule.match


# --- refused on listings, admitted on calls ------------------------------------------------------


def _unlisted(known: Known, placed: Placed) -> Iterator[Finding]:
    rule = placed.rule
    if not isinstance(rule, Rule) or not rule.on or Surface.CALL in rule.on:
        return
    for surface in rule.on:
        rows = placed.rows & known.shown[surface] & known.asked[Surface.CALL]
        found = _shows(known, placed, rows, surface, ReasonCode.RULE_DENIED)
        if found is not None:
            yield placed.said(
                FindingCode.UNLISTED_YET_CALLABLE,
                f"it keeps {shown(found[0])} out of the {surface}, where a call of it is admitted",
                tool=found[0],
                context=found[1],
                surface=str(surface),
            )
            return


def _unlisted_by_default(known: Known) -> Iterator[Finding]:
    """Find layers that admit calls of what they do not list: by an `allow` on calls alone."""
    told = set()
    for placed in known.strict:
        layer = placed.layer
        if placed.effect is not Effect.ALLOW or placed.place in told or placed.observes:
            continue
        if not isinstance(layer, StrictLayer) or layer.default is not Default.DENY:
            continue
        if not isinstance(placed.rule, Rule) or placed.rule.on != (Surface.CALL,):
            continue
        surface = Surface.SEARCH
        rows = placed.rows & known.shown[surface] & known.asked[Surface.CALL]
        found = _shows(known, placed, rows, surface, ReasonCode.LAYER_DEFAULT)
        if found is not None:
            told.add(placed.place)
            yield Finding(
                code=FindingCode.UNLISTED_YET_CALLABLE,
                layer=layer.name,
                message=f"its default keeps {shown(found[0])} out of listings, where its rule"
                f" {shown(placed.name)} admits a call of it",
                witness={"tool": found[0], "context": found[1], "rule": placed.rule.id},
            )


def _shows(
    known: Known, placed: Placed, rows: int, surface: Surface, code: ReasonCode
) -> tuple[str, dict[str, str]] | None:
    """Return a tool and a context in which a listing refuses it so and a call can be admitted."""
    context = example(placed.box, known.seen_values)
    start = placed.span.start
    if context is None:
        return None
    now = known.now if start is None else max(known.now, start)
    for number in numbers_of(rows)[:MOST_TRIED]:
        row = known.rows[number]
        listed = known.policy.list_subject(row.subject, context, surface, now=now)
        if listed.withheld is not code:
            continue
        judged = Judged(row.subject, floor=row.entry.floor)
        if known.policy.call_state(judged, context, now=now)[0] is not CallState.REFUSED:
            return row.name, context
    return None
