"""`manage.py audit`: the history of everything that was answered and changed."""

from collections.abc import Iterable
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolpolicy.audit import proofs, signing, streaming
from toolpolicy.audit.line_files import StreamError
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.faults import printable, quantity
from toolpolicy.management import _audit_evidence as evidence
from toolpolicy.management import _audit_log as log
from toolpolicy.management import _audit_reports as reports
from toolpolicy.management import _audit_retention as keeping
from toolpolicy.management.progress import Progress
from toolpolicy.management.refusing import needing_database, sentences
from toolpolicy.management.stopping import stopped
from toolpolicy.services import clock, erasure, retention, sealing, verdicts
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, NotFound, Refused
from toolpolicy.services.evidence import exports, verifier


class Command(BaseCommand):
    """Seal and verify the log; change its key; go on after a break; say and give what it tells."""

    help = (
        "Seal and verify the log of records, change its key, go on after a break; delete what is "
        "kept no longer; take records away as evidence; report on a period, say what was possible "
        "at a point in time, judge a recorded answer again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Read which action is wanted."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        log.add_log_actions(actions)
        evidence.add_evidence_actions(actions)
        reports.add_report_actions(actions)
        keeping.add_retention_actions(actions)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run as Django does, with a plain sentence where there is no database to use."""
        verifies = options["action"] == log.VERIFY
        ending = log.nothing_said(shown=options["traceback"]) if verifies else nullcontext()
        with ending, needing_database():
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked for."""
        del args
        action = options["action"]
        try:
            if action in reports.ACTIONS:
                self._write_lines(reports.ACTIONS[action](options))
            else:
                getattr(self, f"_{action.replace('-', '_')}")(options)
        except (InvalidInput, Refused, NotFound) as error:
            raise CommandError(sentences(error.faults, keeping.NAMES)) from None

    def _verify(self, options: dict[str, Any]) -> None:
        try:
            with Progress(self.stderr, options) as progress:
                verdict = sealing.verify(
                    actor=self._actor(),
                    full=options["full"],
                    progress=lambda done, last: progress(f"verifying block {done} of {last}"),
                    processes=options["processes"],
                )
        except BrokenExecutor:
            message = "a process that verified ended before its time: nothing is said of the log"
            raise CommandError(message) from None
        self._say(options, verdict.wire(), "\n".join(verdicts.lines(verdict)))
        if not verdict.good:
            raise SystemExit(log.BROKEN)

    def _seal(self, options: dict[str, Any]) -> None:
        count = sealing.seal()
        self._say(options, {"sealed": count}, f"sealed {quantity(count, 'record')}")

    def _proof(self, options: dict[str, Any]) -> None:
        try:
            with reading():
                proof = proofs.prove(options["uid"])
        except Unreadable as error:
            told = f"nothing proves it: {error}; `manage.py audit verify` says what happened"
            raise CommandError(told) from error
        if proof is None:
            raise CommandError(f"no sealed record has the id {options['uid']}")
        block = f"record {proof.seq} is in block {proof.block.number}, by a path of "
        self._say(options, proof.wire(), block + quantity(len(proof.path), "step"))

    def _repair(self, options: dict[str, Any]) -> None:
        block = sealing.repair(actor=self._actor(), note=options["note"])
        told = f"segment {block.segment} begins with block {block.number}; nothing was rewritten"
        self._say(options, {"segment": block.segment, "block": block.number}, told)

    def _rotate(self, options: dict[str, Any]) -> None:
        key = sealing.rotate(actor=self._actor(), seed=log.read_seed(options["to_file"]))
        told = (
            f"the key {key.key_id} seals from now on: set {signing.VARIABLE} to it and start the "
            "servers and the worker again; until then nothing is sealed"
        )
        self._say(options, {"key": key.key_id, "public": key.public}, told)

    def _new_key(self, options: dict[str, Any]) -> None:
        seed = signing.new_seed()
        key = signing.signer_of(seed)
        wire = {"key": key.key_id, "public": key.public}
        if options["out"] is None:
            self._say(options, {**wire, "private": seed}, seed)
            return
        log.write_seed(options["out"], seed)
        self._say(options, wire, f"{options['out']} holds the private key of {key.key_id}")

    def _export(self, options: dict[str, Any]) -> None:
        asked = evidence.asked_for(options)
        begin = partial(exports.begin, actor=self._actor(), asked=asked)
        told = evidence.write_out(begin, options["out"])
        # What was written may have gone to standard output.
        text = dumps(told) if options["json"] else None
        for line in [text] if text else evidence.export_lines(told, options["out"]):
            (self.stdout if options["out"] else self.stderr).write(line, style_func=str)

    def _verifier(self, options: dict[str, Any]) -> None:
        with evidence.new_file(options["out"]) as out:
            out.write(verifier.source())

    def _stream(self, options: dict[str, Any]) -> None:
        target = evidence.target_of(options["to"])
        if options["follow"]:
            streaming.follow(target, stopped(), say=self.stderr.write)
            return
        try:
            count = streaming.stream_all(target)
        except StreamError as error:
            raise CommandError(str(error)) from None
        self.stderr.write(f"streamed {quantity(count, 'record')}", style_func=str)

    def _prune(self, options: dict[str, Any]) -> None:
        if options["clock_is_right"] and not options["dry_run"]:
            clock.confirm(actor=self._actor())
        with Progress(self.stderr, options) as progress:
            found = retention.prune(
                actor=self._actor(),
                dry_run=options["dry_run"],
                progress=lambda texts: progress(f"{texts} texts so far"),
            )
        self._say(options, found.wire(), "\n".join(keeping.pruning_lines(found)))

    def _erase(self, options: dict[str, Any]) -> None:
        bodies = options["bodies"]
        found = erasure.erase(
            actor=self._actor(),
            person=keeping.person_of(options),
            reason=options["reason"],
            bodies=bodies,
            dry_run=options["dry_run"],
        )
        lines = keeping.erasure_lines(found, bodies=bodies)
        self._say(options, found.wire(), "\n".join(lines))

    def _say(self, options: dict[str, Any], wire: dict[str, Any], text: str) -> None:
        self.stdout.write(dumps(wire) if options["json"] else text)

    def _write_lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            for line in text.split("\n"):
                self.stdout.write(printable(line))

    def _actor(self) -> Actor:
        return Actor.system("audit command")
