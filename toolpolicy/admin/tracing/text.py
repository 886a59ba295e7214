"""A trace as plain text: the same tree as on the page, to be pasted into a message."""

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext

from toolpolicy.admin import marks
from toolpolicy.admin.tracing.layers import LayerView, SubjectView
from toolpolicy.admin.tracing.steps import StepView
from toolpolicy.engine.sentences import plain


def written(subjects: Iterable[SubjectView]) -> Iterator[str]:
    """Yield the lines of a trace, each layer after an empty one."""
    shown = list(subjects)
    for subject in shown:
        if len(shown) > 1:
            yield from ("", f"{subject.tool}{f' ({subject.family})' if subject.family else ''}")
        for layer in subject.layers:
            yield from _layer(layer)
        if subject.end is not None:
            yield from ("", *_step(subject.end))
        if subject.others:
            yield from ("", gettext("Do not apply:"))
            yield from (
                f"  {one.name} ({one.about}): {plain(one.because)}" for one in subject.others
            )


def _layer(layer: LayerView) -> Iterator[str]:
    said = f": {layer.verdict.word}" if layer.verdict else ""
    yield from ("", f"{layer.name} ({layer.about}){said}")
    for step in layer.steps:
        yield from _step(step)
    for fold in layer.folds:
        yield f"  {fold.about}:"
        for step in fold.steps:
            yield from (f"  {line}" for line in _step(step))
        if fold.more:
            yield "    " + gettext("and %(count)s more") % {"count": f"{fold.more:,}"}


def _step(step: StepView) -> Iterator[str]:
    if step.effect:
        words = marks.OBSERVED if step.observing else {k: v[0] for k, v in marks.EFFECTS.items()}
        yield f"  [{step.word}] {step.name}: {words.get(step.effect, '')} {plain(step.words)}"
    else:
        yield f"  [{step.word}] {step.name} {plain(step.words)}".rstrip()
    if step.because:
        yield f"      {plain(step.because)}"
