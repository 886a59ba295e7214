"""What is measured: the engine, its reference, the peer and plain floors, over one workload."""

import itertools
import json
from datetime import UTC, datetime
from typing import Any

from tests.bench.cedar import Cedar
from tests.bench.rounds import Contender
from tests.bench.workload import Call, Workload
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_listing import CompiledListing, Row
from toolpolicy.engine.evaluate import Judged, evaluate
from toolpolicy.engine.lint.check import lint
from toolpolicy.engine.lint.known import Question as LintQuestion
from toolpolicy.engine.registry import Entry, Registry, ToolState
from toolpolicy.engine.words import Effect, Surface

LINTED_AT = datetime(2026, 3, 1, tzinfo=UTC)
PEER_CALLS = 20_000
"""Calls × rules that the peer is asked in one pass; it needs a while for many."""


def disagreements(workload: Workload, peer: Cedar, calls: int) -> list[Call]:
    """Return the calls that engine, reference and peer do not answer alike, deciders included."""
    compiled = CompiledPolicy(workload.policy)
    effects = [rule["effect"] for rule in workload.rules]
    found = []
    for call in workload.calls[:calls]:
        fast = compiled.evaluate(*_asked(call))
        request = peer.request(call)
        allowed = peer.decide(request)
        effect = Effect.ALLOW if allowed else Effect.DENY
        deciders = {number for _, number in fast.fired if effects[number] == effect}
        same = fast == evaluate(workload.policy, *_asked(call)) and fast.callable == allowed
        if not same or peer.deciders(request) != deciders:
            found.append(call)
    return found


def calls_of_peer(workload: Workload) -> int:
    """Return how many of the calls the peer is asked."""
    return max(10, min(len(workload.calls), PEER_CALLS // max(1, len(workload.rules))))


def _asked(call: Call) -> tuple[Any, ...]:
    return call.tool, call.context, Surface.CALL, call.args


def warm(workload: Workload, policy: CompiledPolicy | None = None) -> Contender:
    """Decide about registered tools that were seen before."""
    compiled = policy or CompiledPolicy(workload.policy)
    compiled.pin(workload.tools)
    calls = workload.calls

    def run(_: None) -> None:
        decide = compiled.evaluate
        for tool, context, args in calls:
            decide(tool, context, Surface.CALL, args)

    return Contender(run, len(calls))


def first_sight(workload: Workload) -> Contender:
    """Decide about each registered tool for the first time since the policy was compiled."""
    context, args = workload.calls[0].context, workload.calls[0].args

    def prepare() -> CompiledPolicy:
        compiled = CompiledPolicy(workload.policy)
        compiled.pin(workload.tools)
        # What is settled on first use belongs to compiling.
        compiled.evaluate(workload.tools[0], context, Surface.SEARCH)
        return compiled

    def run(compiled: CompiledPolicy) -> None:
        decide = compiled.evaluate
        for tool in workload.tools:
            decide(tool, context, Surface.CALL, args)

    return Contender(run, len(workload.tools), prepare)


def reference(workload: Workload) -> Contender:
    """Decide by the plain evaluator."""
    calls = workload.calls[: calls_of_peer(workload)]

    def run(_: None) -> None:
        for call in calls:
            evaluate(workload.policy, *_asked(call))

    return Contender(run, len(calls))


def peer_deciding(workload: Workload, peer: Cedar) -> Contender:
    """Ask the peer one call at a time."""
    requests = [peer.request(call) for call in workload.calls[: calls_of_peer(workload)]]

    def run(_: None) -> None:
        for request in requests:
            peer.decide(request)

    return Contender(run, len(requests))


def compiling(workload: Workload) -> Contender:
    """Compile the policy, first use included."""
    call = workload.calls[0]

    def run(_: None) -> None:
        CompiledPolicy(workload.policy).evaluate(*_asked(call))

    return Contender(run, 1)


def parsing(workload: Workload) -> Contender:
    """Parse the text of the same policy document as JSON and no more."""
    text = json.dumps(workload.document)
    return Contender(lambda _: json.loads(text), 1)


def listing_again(workload: Workload) -> Contender:
    """List all tools for contexts that were asked before."""
    listing = _listing(workload)
    contexts = [call.context for call in workload.calls]
    for context in contexts:
        listing.answers(context, None)

    def run(_: None) -> None:
        for context in contexts:
            listing.answers(context, None)

    return Contender(run, len(contexts))


def listing_first(workload: Workload) -> Contender:
    """List all tools, and say what a call of each would meet, after compiling."""
    contexts = itertools.cycle([call.context for call in workload.calls])

    def prepare() -> tuple[CompiledListing, dict[str, str]]:
        return _listing(workload), next(contexts)

    def run(prepared: tuple[CompiledListing, dict[str, str]]) -> None:
        listing, context = prepared
        listing.answers(context, None)

    return Contender(run, 1, prepare)


def _listing(workload: Workload) -> CompiledListing:
    compiled = CompiledPolicy(workload.policy)
    compiled.pin(workload.tools)
    compiled.evaluate(workload.tools[0], {}, Surface.SEARCH)
    return CompiledListing(
        compiled, Surface.CATALOG, [Row(Judged(tool)) for tool in workload.tools]
    )


def peer_listing(workload: Workload, peer: Cedar) -> Contender:
    """Ask the peer for all tools in one batch: whether each is admitted, and no more."""
    context, args = workload.calls[0].context, workload.calls[0].args
    requests = [peer.request(Call(tool, context, args)) for tool in workload.tools]
    return Contender(lambda _: peer.decide_all(requests), 1)


def linting(workload: Workload) -> Contender:
    """Lint the policy over its tools, all of them registered."""
    entries = (
        Entry(subject=tool, family=tool.family or "", state=ToolState.ACTIVE, declaration="")
        for tool in workload.tools
    )
    question = LintQuestion(policy=workload.policy, registry=Registry(entries), now=LINTED_AT)
    return Contender(lambda _: lint(question), 1)
