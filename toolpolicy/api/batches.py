"""Batches: shared defaults, and items that are read, answered or refused each by itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolpolicy.api.failures import problem_of
from toolpolicy.api.problems import Problem, ProblemError, problem
from toolpolicy.api.reading import BATCH, NORMAL, TOO_LARGE
from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.faults import Fault, FaultList, Faults, join
from toolpolicy.engine.questions import QUESTION_MEMBERS, Question
from toolpolicy.engine.reading import Reader

MOST_ITEMS: Final = 1_000
# What is wrong with the defaults is wrong with each item: a small body must not make a huge answer.
MOST_OF_AN_ITEM: Final = 20
CONTEXT: Final = "context"


@dataclass(frozen=True, slots=True)
class Batch:
    """The items of a batch in order: a question each, or the problem of one."""

    items: tuple[Question | Problem, ...]

    @property
    def questions(self) -> list[Question]:
        """The items that can be decided."""
        return [item for item in self.items if isinstance(item, Question)]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault of every item that cannot, with its place in the whole body."""
        bad = [item for item in self.items if isinstance(item, Problem)]
        return tuple(fault for item in bad for fault in item.faults)


def read_batch(document: Any, read: Callable[[Any], Question]) -> Batch:
    """Read `{defaults?, items}`; `read` reads one item, over the defaults.

    A member that an item leaves out is the default's; `context` is taken together, value by value.
    Raises `Faults` when the envelope itself is wrong, for example without any item.
    """
    reader = Reader()
    members = reader.members(document, "", ("defaults", "items"))
    defaults = reader.members(members.get("defaults", {}), "/defaults", QUESTION_MEMBERS)
    if isinstance(document, dict) and "items" not in members:
        reader.fault("", "a batch needs `items`", "missing")
    items = reader.items(members.get("items", [None]), "/items", lambda item, _: (item,))
    if not 0 < len(items) <= MOST_ITEMS and not reader.faults:
        reader.fault("/items", f"{len(items)} items; a batch has from 1 to {MOST_ITEMS}", "count")
    reader.finish(None)
    return Batch(tuple(_read_items([item for (item,) in items], defaults, read)))


def _read_items(
    items: Sequence[Any], defaults: Mapping[str, Any], read: Callable[[Any], Question]
) -> Iterator[Question | Problem]:
    room = _Room(defaults)
    for number, item in enumerate(items):
        try:
            room.take(item)
            yield read(_over(defaults, item))
        except (Faults, ProblemError) as error:
            yield _placed(problem_of(error), number, item, defaults)


class _Room:
    """What the items may hold with what they take from the defaults: each, and all together.

    A question is recorded whole, so that defaults are written as often as there are items.
    """

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self._most = NORMAL.limits.size
        self._all = self._left = BATCH.limits.size
        self._members = {name: _size({name: value}) for name, value in defaults.items()}
        shared = defaults.get(CONTEXT)
        self._context = (
            {key: _size({key: value}) for key, value in shared.items()}
            if isinstance(shared, dict)
            else {}
        )

    def take(self, item: Any) -> None:
        """Make room for one more item. Raise a problem when there is not enough."""
        size = _size(item)
        if isinstance(item, dict):
            size += sum(one for name, one in self._members.items() if name not in item)
            own = item.get(CONTEXT)
            if isinstance(own, dict):
                size += sum(one for key, one in self._context.items() if key not in own)
        if size > self._most:
            said = f"the item has more than {self._most} bytes with what the defaults add"
        elif size > self._left:
            said = f"the items have more than {self._all} bytes with what the defaults add to each"
        else:
            self._left -= size
            return
        raise problem(TOO_LARGE, said, faults=(Fault("", said, TOO_LARGE),))


def _size(value: Any) -> int:
    return len(dumps(value).encode())


def _over(defaults: Mapping[str, Any], item: Any) -> Any:
    """Return an item laid over the defaults; what is no object is left for its reader."""
    if not isinstance(item, dict):
        return item
    merged = {**defaults, **item}
    shared, own = defaults.get(CONTEXT), item.get(CONTEXT)
    if isinstance(shared, dict) and isinstance(own, dict):
        merged[CONTEXT] = {**shared, **own}
    return merged


def _placed(found: Problem, number: int, item: Any, defaults: Mapping[str, Any]) -> Problem:
    """Return the problem of an item with pointers into the whole body."""
    here = join("/items", number)
    faults = FaultList(
        (
            fault.moved(_base(fault.pointer, here, item, defaults) + fault.pointer)
            for fault in found.faults
        ),
        MOST_OF_AN_ITEM,
    )
    return Problem(code=found.code, detail=found.detail, faults=faults.told(), deny=True)


def _base(pointer: str, here: str, item: Any, defaults: Mapping[str, Any]) -> str:
    """Say whether a fault stands in the item or in what it takes from the defaults."""
    name, _, rest = pointer.removeprefix("/").partition("/")
    if not isinstance(item, dict) or name not in defaults:
        return here
    if name not in item:
        return "/defaults"
    shared, own = defaults[name], item[name]
    key = rest.partition("/")[0].replace("~1", "/").replace("~0", "~")
    taken = isinstance(shared, dict) and isinstance(own, dict) and key in shared and key not in own
    return "/defaults" if name == CONTEXT and taken else here


def write_results(batch: Batch, answers: Sequence[Any]) -> list[Any]:
    """Return the answers and problems in the order of the items."""
    found = iter(answers)
    return [
        next(found) if isinstance(item, Question) else _without_request(item)
        for item in batch.items
    ]


def _without_request(refused: Problem) -> dict[str, Any]:
    document = refused.document("")
    del document["request_id"]
    return document
