"""What the engine promises of its speed, each as a ratio inside one run."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tests.bench import contenders as of
from tests.bench.cedar import Cedar
from tests.bench.counters import bytes_of_index
from tests.bench.rounds import Contender, Measured, compare
from tests.bench.workload import SCOPES, Workload, one_tool, workload

WARM: Final = {10: 30, 100: 100, 1_000: 1_000, 10_000: 4_000}


class Result(NamedTuple):
    """One promise and what was seen of it. A count has no `measured`."""

    name: str
    found: float
    bound: float
    at_least: bool
    measured: Measured | None = None

    @property
    def met(self) -> bool:
        """Whether the promise holds in this run."""
        return self.found >= self.bound if self.at_least else self.found <= self.bound


class Disagreement(Exception):
    """The contenders do not answer alike: nothing is timed."""


def at_least(name: str, bound: float, ours: Contender, theirs: Contender) -> Result:
    """Promise that ours is `bound` times as fast as theirs."""
    measured = compare(ours, theirs)
    return Result(name, measured.ratio, bound, at_least=True, measured=measured)


def at_most(name: str, bound: float, ours: Contender, floor: Contender) -> Result:
    """Promise that ours takes `bound` times as long as the floor, at most."""
    measured = compare(floor, ours)
    return Result(name, measured.ratio, bound, at_least=False, measured=measured)


def _prepared(rules: int, *, calls: bool = True) -> tuple[Workload, Cedar]:
    load = workload(rules, calls=calls)
    peer = Cedar(load)
    differing = of.disagreements(load, peer, of.calls_of_peer(load))
    if differing:
        message = f"{len(differing)} calls at {rules} rules, first {differing[0]}"
        raise Disagreement(message)
    return load, peer


def deciding() -> Iterator[Result]:
    """Single decisions, beside the peer and the reference."""
    for rules, bound in WARM.items():
        load, peer = _prepared(rules)
        name = f"decision, tool seen before, {rules:,} rules: faster than cedarpy"
        yield at_least(name, bound, of.warm(load), of.peer_deciding(load, peer))
        if rules == 1_000:
            name = "first sight of a tool, 1,000 rules: faster than cedarpy"
            yield at_least(name, 150, of.first_sight(load), of.peer_deciding(load, peer))
            name = "decision, tool seen before, 1,000 rules: faster than the reference"
            yield at_least(name, 300, of.warm(load), of.reference(load))


def growing() -> Iterator[Result]:
    """Measure what more rules and layers cost."""
    small, middle, large = workload(10), workload(1_000), workload(10_000)
    name = "decision, 10,000 rules: times that of 10"
    yield at_most(name, 5, of.warm(large), of.warm(small))
    stacked = workload(1_000, layers=SCOPES)
    name = "decision, four layers of 1,000 rules: times that of one"
    yield at_most(name, 5, of.warm(stacked), of.warm(middle))
    name = "decision, 1,000 rules on arguments of one tool: times that of 10"
    yield at_most(name, 5, of.warm(one_tool(1_000)), of.warm(one_tool(10)))


def listing() -> Iterator[Result]:
    """1,000 tools × 1,000 rules."""
    load, peer = _prepared(1_000, calls=False)
    theirs = of.peer_listing(load, peer)
    name = "listing, 1,000 tools × 1,000 rules, first: faster than cedarpy's batch"
    yield at_least(name, 150, of.listing_first(load), theirs)
    name = "listing, 1,000 tools × 1,000 rules, again: faster than cedarpy's batch"
    yield at_least(name, 5_000, of.listing_again(load), theirs)


def compiling() -> Iterator[Result]:
    """Measure what compiling costs, in time and memory."""
    for rules in (1_000, 10_000):
        load = workload(rules)
        name = f"compiling {rules:,} rules: times json.loads of the document"
        yield at_most(name, 15, of.compiling(load), of.parsing(load))
        found = bytes_of_index(load.policy) / rules
        yield Result(f"bytes of index a rule, {rules:,} rules", found, 1_024, at_least=False)


def linting() -> Iterator[Result]:
    """Measure what lint costs."""
    for layers in (1, len(SCOPES)):
        load = workload(1_000 // layers, layers=SCOPES[:layers])
        name = f"lint, 1,000 rules in {layers} layers, 1,000 tools: times one compile"
        yield at_most(name, 100, of.linting(load), of.compiling(load))


GROUPS: Final[dict[str, Callable[[], Iterator[Result]]]] = {
    "deciding": deciding,
    "growing": growing,
    "listing": listing,
    "compiling": compiling,
    "lint": linting,
}
