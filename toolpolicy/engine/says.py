"""What one layer says about one case, and how an answer refers to a rule."""

from typing import NamedTuple

from toolpolicy.engine.decision import BlockedBy
from toolpolicy.engine.values import Layer
from toolpolicy.engine.words import Approval, ReasonCode


class Stop(NamedTuple):
    """Something that keeps a tool from being listed or called, with what it is reported as."""

    reason_code: ReasonCode
    blocked_by: BlockedBy | None


class Says(NamedTuple):
    """One layer's word: a refusal, a mere hide, its part in the approval, and the rules that fired.

    `fired` are (layer index, rule index) pairs in order.
    """

    refusal: Stop | None = None
    hide: Stop | None = None
    approval: Approval = Approval.DEFAULT
    fired: tuple[tuple[int, int], ...] = ()


def blocked_by(index: int, layer: Layer, rule: int | None) -> BlockedBy:
    """Refer to rule number `rule` of a layer, or to its default when None."""
    name, scope = layer.name, layer.settings.scope
    if rule is None:
        return BlockedBy(name, index, scope)
    chosen = layer.rules[rule]
    return BlockedBy(name, index, scope, rule, chosen.id, chosen.reason)
