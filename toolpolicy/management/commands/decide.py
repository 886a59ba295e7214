"""`manage.py decide --surface call --tool NAME`: ask the decision point from a shell."""

import json
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolpolicy.engine import canonical, strictjson
from toolpolicy.engine.faults import Faults, said
from toolpolicy.engine.questions import Question, parse_question
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Surface
from toolpolicy.services import decisions, registry
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import ServiceError

_MARKS = {
    "matches": "+",
    "no_match": "-",
    "unreadable": "?",
    "waits_for_arguments": "?",
}


def json_text(text: str) -> Any:
    """Read an option's JSON as strictly as the API does."""
    try:
        return strictjson.loads(text.encode())
    except Faults as faults:
        raise ArgumentTypeError(said(faults.faults, "\n")) from None


def context_entry(text: str) -> tuple[str, str]:
    """Read one `key=value`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        msg = f"`{text}` is no context entry; write key=value"
        raise ArgumentTypeError(msg)
    return key, value


class Command(BaseCommand):
    """Decide as the REST API does: the same answer, and a record of it."""

    help = "Ask whether a tool may be listed or called. Recorded as a simulation unless --record."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--surface", choices=[str(s) for s in Surface], default=Surface.CALL)
        parser.add_argument("--tool", required=True, metavar="NAME", help="as the model sees it")
        parser.add_argument("--family", help="where several families have a tool of that name")
        parser.add_argument(
            "--args",
            type=json_text,
            default=ABSENT,
            dest="arguments",  # Django keeps `args` for itself
            metavar="JSON",
            help="the arguments of the call",
        )
        parser.add_argument(
            "--context",
            type=context_entry,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="for example agent=coder; may be given several times",
        )
        parser.add_argument("--explain", action="store_true", help="say why, rule by rule")
        parser.add_argument(
            "--record", action="store_true", help="record a decision, not a simulation"
        )
        parser.add_argument("--json", action="store_true", help="print the answer as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        try:
            question = _question(options)
            answer = decisions.decide(asker=Actor.system("decide command"), question=question)
        except (Faults, ServiceError) as refused:
            raise CommandError(said(refused.faults, "\n")) from refused
        if options["json"]:
            self.stdout.write(canonical.dumps(answer.document))
            return
        self.stdout.write(f"{answer.outcome} ({answer.reason_code})")
        self.stdout.write(answer.message)
        if like := registry.names_like(question.tool.name):
            meant = " or ".join(f"`{name}`" for name in like)
            self.stdout.write(f"`{question.tool.name}` is not registered; it looks like {meant}")
        if options["explain"]:
            self._explain(answer.document["explanation"])
        self.stdout.write(f"recorded as {answer.decision_id}")

    def _explain(self, explanation: dict[str, Any]) -> None:
        sentences = explanation["sentences"]
        self.stdout.write(f"  {sentences['person']}\n  {sentences['admin']}")
        for subject in explanation["subjects"]:
            self.stdout.write(f"\n{subject['tool']}")
            for layer in subject["layers"]:
                self._explain_layer(layer)

    def _explain_layer(self, layer: dict[str, Any]) -> None:
        because = "" if layer["applies"] else f" (does not apply: {layer['because']})"
        decided = "  <- decided, by its default" if layer["decider"] else ""
        self.stdout.write(f"  {layer['scope']} layer {layer['layer']}{because}{decided}")
        for step in layer.get("rules", []):
            self.stdout.write(_step_line(step))


def _step_line(step: dict[str, Any]) -> str:
    mark = _MARKS.get(step["result"], " ")
    name = step["rule"] or f"#{step['index']}"
    words = step["result"].replace("_", " ")
    said = [step] if "field" in step else step.get("met", [])
    values = ", ".join(f"{one['field']} is {_actual(one['actual'])}" for one in said)
    because = f": {values}" if values else ""
    unread = (
        f" (could not be read: {', '.join(step['unreadable'])})" if "unreadable" in step else ""
    )
    decided = "  <- decided" if step["decider"] else ""
    observing = ", observing" if step.get("observing") else ""
    return f"    {mark} {step['effect']} {name}{observing}: {words}{because}{unread}{decided}"


def _actual(value: Any) -> str:
    return "not given" if value is None else json.dumps(value, ensure_ascii=False)


def _question(options: dict[str, Any]) -> Question:
    """Make the question through the wire form, so that every face reads it alike."""
    family = {} if options["family"] is None else {"family": options["family"]}
    document: dict[str, Any] = {
        "surface": options["surface"],
        "tool": {"name": options["tool"], **family},
        "context": dict(options["context"]),
        "explain": options["explain"],
        "dry_run": not options["record"],
    }
    if options["arguments"] is not ABSENT:
        document["arguments"] = options["arguments"]
    return parse_question(document)
