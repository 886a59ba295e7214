"""What the sinks hold against the database: it finds what was rewritten whole, or cut off."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from toolpolicy.audit.blocks import BlockText, checkpoint_line, parse, parse_line
from toolpolicy.audit.sinks import Sink, SinkError
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.models import Block

# Lines that are none are told of, and compared with blocks, up to so many.
_MOST_BROKEN: Final = 100
_MOST_TRIED: Final = 1000


def check(known: Iterable[Sink], verdict: Verdict, *, end: int, full: bool) -> None:
    """Compare the checkpoints of each sink: the newest, or all of them.

    `end` is the number after the last record of the last block.
    """
    for sink in known:
        try:
            newest = sink.newest()
            lines = sink.lines() if full else filter(None, [newest])
            _Lines(sink.name, verdict, end).check(lines)
        except SinkError as error:
            verdict.find(Kind.MISSING, f"the sink `{sink.name}`: {error}")


@dataclass(slots=True)
class _Lines:
    """The lines of one sink, judged in their order."""

    sink: str
    verdict: Verdict
    end: int
    agreed: int = 1
    """The first record that no line vouches for yet."""
    newest: int = 0
    """The number of the last block that a line was about."""
    broken: list[str] = field(default_factory=list)
    """Lines that are none, since the last one that is."""

    def check(self, lines: Iterable[str]) -> None:
        """Judge each line, and those that are none by what stands around them."""
        for line in lines:
            try:
                text, _ = parse_line(line)
                block = parse(text)
            except ValueError:
                self.broken = [*self.broken, line][-_MOST_BROKEN:]
                continue
            self._tell_broken(block.n)
            self._compare(text, block)
            self.newest = block.n
        self._tell_broken(self.newest)

    def _tell_broken(self, number: int) -> None:
        """Say which lines a crash does not explain: it leaves the beginning of a line behind."""
        told = range(self.newest, number + 1)
        for line in self.broken:
            if not _is_beginning(line.rstrip("\n"), told):
                message = f"the sink `{self.sink}` holds a line that is none: {line[:80]!r}"
                self.verdict.find(Kind.ALTERED, message)
        self.broken = []

    def _compare(self, text: str, block: BlockText) -> None:
        verdict, sink = self.verdict, self.sink
        place = {"block": block.n, "seq": self.agreed, "segment": block.segment}
        stored = Block.objects.filter(number=block.n).values_list("text", flat=True).first()
        if block.log != verdict.log:
            message = f"the sink `{sink}` holds a checkpoint of the log {block.log}"
            verdict.find(Kind.ALTERED, message)
        elif stored is None:
            message = f"block {block.n} is gone: the sink `{sink}` holds it"
            verdict.find(Kind.MISSING, message, **{**place, "seq": min(self.end, block.first)})
        elif stored != text:
            message = f"block {block.n} is another one than the sink `{sink}` holds"
            verdict.find(Kind.ALTERED, message, **{**place, **_known(verdict, block.n)})
        else:
            verdict.checkpoints += 1
            self.agreed = block.end


def _is_beginning(line: str, numbers: range) -> bool:
    found = Block.objects.filter(number__gte=numbers.start, number__lt=numbers.stop)
    whole = found.order_by("-number").values_list("text", "signature")[:_MOST_TRIED]
    return any(checkpoint_line(text, signed).startswith(line) for text, signed in whole)


def _known(verdict: Verdict, number: int) -> dict[str, int | None]:
    """Return where a block is already known to be broken: nearer than what no line vouches for."""
    known = [finding.seq for finding in verdict.findings if finding.block == number]
    return {"seq": known[0]} if known else {}
