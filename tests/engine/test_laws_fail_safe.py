"""Laws of the fail-safe reading (SPEC §3).

- stricter: switching it on never widens visible or callable and never makes an approval looser,
  where required is stricter than default, and default than waived
- readable: it changes nothing where all attributes are declared and no argument is unreadable
"""

from dataclasses import replace

from tests.engine.changes import never_wider, replaced, set_on, strict_places
from tests.growing import STRICT, words
from tests.strategies import law, worlds
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Approval, Hint, SideEffect

LOOSEST_FIRST = (Approval.WAIVED, Approval.DEFAULT, Approval.REQUIRED)


@law(world=worlds(combinings=(STRICT,)))
def test_switching_fail_safe_on_never_widens_and_never_loosens_an_approval(world):
    places = strict_places(world.layers)
    place = places[world.number % len(places)]
    layer = world.layers[place]
    strict, plain = (
        world.under(replaced(world.layers, place, set_on(layer, fail_safe=switch)))
        for switch in (True, False)
    )
    for question in world.questions:
        on, off = question.judge(strict), question.judge(plain)
        assert never_wider(on, off)
        assert LOOSEST_FIRST.index(on.approval) >= LOOSEST_FIRST.index(off.approval)
        assert on.needs_approval >= off.needs_approval


@law(world=worlds(combinings=(STRICT,)))
def test_fail_safe_changes_nothing_where_everything_can_be_read(world):
    strict, plain = (
        world.under([set_on(layer, fail_safe=switch) for layer in world.layers])
        for switch in (True, False)
    )
    for question in world.questions:
        known = {
            "category": "system",
            "exposure": "direct",
            "permission": "Write",
            "side_effects": dict.fromkeys(words(SideEffect), False),
            **question.subject,
            "hints": dict.fromkeys(words(Hint), True) | question.subject.get("hints", {}),
        }
        args = ABSENT if question.surface != "call" else None
        readable = replace(question, subject=known, args=args)
        assert readable.judge(strict).verdict == readable.judge(plain).verdict
