"""A registry as the unfolding of indirect calls sees it, from the wire form of the vectors."""

from typing import Any

from toolpolicy.engine.targets import Known, Refusal, parse_dispatcher
from toolpolicy.engine.words import ReasonCode


class Names:
    """A registry as the unfolding sees it."""

    def __init__(self, declarations: dict[str, Any], **changes: bool) -> None:
        self.tools = {}
        for key, wire in declarations.items():
            family, _, name = key.partition("/")
            dispatcher = None if wire is None else parse_dispatcher({**wire, **changes})
            self.tools[family or None, name] = Known(family or None, name, dispatcher)

    def exact(self, family: str | None, name: str) -> Known | None:
        return self.tools.get((family, name))

    def bare(self, name: str) -> Known | Refusal | None:
        found = [known for (_, held), known in self.tools.items() if held == name]
        return (
            Refusal(ReasonCode.TOOL_AMBIGUOUS, name) if len(found) > 1 else next(iter(found), None)
        )
