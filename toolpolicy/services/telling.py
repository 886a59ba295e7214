"""What long work tells of itself while it runs, for whoever waits for it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
# Told in words what is being done now; cheap, for it may be told of every tool.
Tell = Callable[[str], None]


def nobody(doing: str) -> None:
    """Tell nobody."""
    del doing


def counted(items: Sequence[Item], doing: str, tell: Tell) -> Iterator[Item]:
    """Yield the items, each after telling that it is being done: `comparing 3 of 10`."""
    for number, item in enumerate(items, start=1):
        tell(f"{doing} {number:,} of {len(items):,}")
        yield item
