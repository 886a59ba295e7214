"""An answer of the matrix as `report/said.html` shows it, alone or beside another one."""

from collections.abc import Sequence
from typing import NamedTuple

from toolpolicy.admin.marks import OUTCOMES
from toolpolicy.admin.words import Words
from toolpolicy.services.matrix import Opened, Said

MOST_OPEN = 4


class AnswerShown(NamedTuple):
    """An answer: its word, shape and colours; `open`: the rules by which it is another one."""

    word: Words
    shape: str
    tone: str
    depends: bool
    listed: bool
    open: Sequence[str] = ()
    more: int = 0

    @classmethod
    def of(cls, said: Said | None, opened: Sequence[Opened] = ()) -> "AnswerShown | None":
        """Return an answer to be shown; None where the tool was not registered."""
        if said is None:
            return None
        words = [one.words for one in opened[:MOST_OPEN]]
        more = max(0, len(opened) - MOST_OPEN)
        return cls(*OUTCOMES[said.outcome], said.depends, said.listed, words, more)
