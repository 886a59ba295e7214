"""Names of targets that a record does not show: sent in arguments, where masking hides them.

A dispatcher's target is named by the caller. The name of a registered tool is the registry's and
stands in every record; another one can be anything, and is shown no more than its argument.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from toolpolicy.engine.masker import masked_values
from toolpolicy.engine.masking import Spot
from toolpolicy.engine.met_values import HIDDEN
from toolpolicy.engine.questions import Question
from toolpolicy.engine.registry import Registry
from toolpolicy.services.decisions.answers import told_in
from toolpolicy.services.decisions.judging import Judgement, Stopped


def hidden_names(
    question: Question, judgement: Judgement, spots: Sequence[Spot], registry: Registry
) -> frozenset[str]:
    """Return the names, as judged or refused, that stand where the record shows nothing."""
    names = {candidate.name for candidate in judgement.candidates}
    if isinstance(judgement.result, Stopped):
        names.add(judgement.result.name)
    names -= {asked.name for asked in (question.tool, *question.targets)}
    names = {name for name in names if not registry.resolve(name).families}
    if not names:
        return frozenset()
    texts = (text for value in masked_values(question, spots) for text in _texts(value))
    return frozenset(names.intersection(texts))


def without_names(answer: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return an answer that shows none of these names; an explanation, which may, is left out."""
    out = told_in(answer)
    about = out.get("about")
    if about is not None and about["name"] in names:
        out["about"] = {**about, "name": HIDDEN}
        out["message"] = out["message"].replace(f"'{about['name']}'", f"'{HIDDEN}'", 1)
    return out


def as_recorded(answer: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer says as a record shows it that shows `recorded`."""
    shown = recorded.get("about", {}).get("name") != HIDDEN
    return told_in(answer) if shown else without_names(answer, _about(answer))


def _about(answer: Mapping[str, Any]) -> tuple[str, ...]:
    return (answer["about"]["name"],) if "about" in answer else ()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
