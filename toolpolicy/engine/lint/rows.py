"""The registered tools as rows: each way in which one is judged. A set of rows is an integer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import Subject
from toolpolicy.engine.words import Exposure, Surface

LISTINGS: Final = (Surface.CATALOG, Surface.SEARCH)
# What each listing surface shows; an unknown exposure is a direct one.
_SHOWN: Final[Mapping[Surface, tuple[Exposure, ...]]] = {
    Surface.CATALOG: (Exposure.DIRECT,),
    Surface.SEARCH: (Exposure.DIRECT, Exposure.DEFERRED),
}


class Row(NamedTuple):
    """A tool as it is judged on listings, on calls, or on both alike."""

    entry: Entry
    subject: Subject
    on: tuple[Surface, ...]

    @property
    def name(self) -> str:
        """The tool as messages and witnesses name it."""
        return f"{self.entry.family}/{self.entry.name}"

    def stands_on(self, surface: Surface) -> bool:
        """Tell whether the surface shows it, where it is listed at all."""
        exposure = self.subject.exposure or Exposure.DIRECT
        return exposure in _SHOWN.get(surface, tuple(Exposure))


def rows_of(entry: Entry) -> Iterator[Row]:
    """Yield the ways in which a tool is judged."""
    if not entry.privilege:
        yield Row(entry, entry.subject, tuple(Surface))
        return
    yield Row(entry, entry.subject, LISTINGS)
    highest = max((rule.level for rule in entry.privilege), key=lambda level: level.rank)
    least = entry.subject.permission or highest
    for level in sorted({least, *(r.level for r in entry.privilege)}, key=lambda at: at.rank):
        if level.rank >= least.rank:
            yield Row(entry, replace(entry.subject, permission=level), (Surface.CALL,))


def bits(holds: Iterable[bool]) -> int:
    """Return the rows of which something holds, as it is said of each."""
    return sum(1 << number for number, held in enumerate(holds) if held)
