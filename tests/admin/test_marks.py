"""Marks: every outcome has a word and a shape, every icon that is asked for is in the sprite."""

import re
from pathlib import Path

import pytest

from toolpolicy.admin import marks
from toolpolicy.admin.tracing.steps import RESULTS
from toolpolicy.engine.words import Effect, Mode, Outcome, Permission

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "toolpolicy" / "static" / "toolpolicy"
SPRITE = set(re.findall(r'<symbol id="(\w+)"', (STATIC / "icons.svg").read_text()))
STYLES = (STATIC / "toolpolicy.css").read_text()
SHAPES = [
    entry[1] for table in (marks.EFFECTS, marks.OUTCOMES, RESULTS) for entry in table.values()
]
# Named where they are chosen by a value.
CHOSEN = {"strict", "list", "up", "down", "yes", "warn", "skip", "observe"}


def asked_for() -> set[str]:
    """Return the icons that templates and pages name."""
    names = {*SHAPES, *CHOSEN}
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'{% icon "(\w+)"', text))
        names |= set(re.findall(r'{% pill _\("[^"]*"\) "(\w+)"', text))
    for path in (ROOT / "toolpolicy" / "admin").rglob("*.py"):
        names |= set(re.findall(r'shape="(\w+)"', path.read_text(encoding="utf-8")))
    return names


def test_the_sprite_holds_what_is_asked_for_and_nothing_else():
    assert asked_for() == SPRITE


@pytest.mark.parametrize("word", [*Effect, *Mode])
def test_every_effect_and_mode_has_a_word_and_a_shape(word):
    shown = marks.effect_pill(word)
    assert "#" + marks.EFFECTS[word][1] in shown
    assert shown.endswith(f"{marks.EFFECTS[word][0]}</span>")
    assert str(marks.OBSERVED[word]) in marks.effect_pill(word, observing=True)


def test_words_tell_effects_apart_without_colour():
    assert len({word for word, _, _ in marks.EFFECTS.values()}) == len(marks.EFFECTS)
    assert len({word for word, _, _ in marks.OUTCOMES.values()}) == len(Outcome)


@pytest.mark.parametrize("tone", sorted({entry[2] for entry in marks.EFFECTS.values()}))
def test_every_tone_has_its_colours(tone):
    assert re.search(rf"^\.tp-{tone}\b[^{{]*{{ --c: .+; --b: .+ }}$", STYLES, re.MULTILINE)


@pytest.mark.parametrize("level", Permission)
def test_a_permission_is_bars_and_its_word(level):
    shown = marks.level(level)
    assert shown.count("is-no") == 4 - level.rank
    assert shown.endswith(f"{level}</span>")


def test_the_stylesheet_wins_without_force():
    assert "!important" not in re.sub(r"/\*.*?\*/", "", STYLES, flags=re.DOTALL)
    assert "url(" not in STYLES
