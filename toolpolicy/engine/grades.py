"""What kind of change a change of a declaration is (SPEC §8): the words, and one change."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from toolpolicy.engine.values import ABSENT


class Grade(StrEnum):
    """How one member of a declaration changed."""

    WORDING = "wording"
    OPTIONAL_ARGUMENT = "optional_argument"
    WIDER_ARGUMENT = "wider_argument"
    NARROWER_ARGUMENT = "narrower_argument"
    LOOSENED_HINT = "loosened_hint"
    TIGHTENED_HINT = "tightened_hint"
    MOVED_NAME = "moved_name"
    OTHER = "other"


IN_WORDS: Final[Mapping[Grade, str]] = {
    Grade.WORDING: "wording",
    Grade.OPTIONAL_ARGUMENT: "new optional argument",
    Grade.WIDER_ARGUMENT: "new required or wider argument",
    Grade.NARROWER_ARGUMENT: "narrower argument",
    Grade.LOOSENED_HINT: "hint loosened",
    Grade.TIGHTENED_HINT: "hint tightened",
    Grade.MOVED_NAME: "name moved",
    Grade.OTHER: "other",
}


@dataclass(frozen=True, slots=True)
class GradedChange:
    """One change: its grade, a pointer into the declaration, and the values before and after.

    A value is `ABSENT` where the declaration has none.
    """

    grade: Grade
    pointer: str
    before: Any = ABSENT
    after: Any = ABSENT

    def wire(self) -> dict[str, Any]:
        """Return the change as JSON; what was absent is left out."""
        values = {"before": self.before, "after": self.after}
        known = {name: value for name, value in values.items() if value is not ABSENT}
        return {"grade": str(self.grade), "pointer": self.pointer, **known}
