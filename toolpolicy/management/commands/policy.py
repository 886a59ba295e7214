"""`manage.py policy`: all that is done to the policy as a whole, in a terminal."""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolpolicy.engine.faults import Fault, Faults, printable, quantity, said
from toolpolicy.engine.schema import policy_schema
from toolpolicy.management import _policy_files as files
from toolpolicy.management._policy_lint import finding_lines
from toolpolicy.management._policy_recipes import add_recipe_arguments, recipe_document
from toolpolicy.management._policy_show import policy_lines, version_line, version_wire
from toolpolicy.management.progress import Progress
from toolpolicy.models import PolicyVersion
from toolpolicy.services import lint, policies
from toolpolicy.services.actors import Actor
from toolpolicy.services.documents import sources
from toolpolicy.services.errors import NotFound, ServiceError
from toolpolicy.services.policies import ImportMode, ImportOptions, Saved
from toolpolicy.services.policy_files import import_text


class Command(BaseCommand):
    """Everything about the policy as a whole; each write is recorded and can be rolled back."""

    help = "Show, lint, export and import the policy; list, compare and publish versions, go back."

    def add_arguments(self, parser: CommandParser) -> None:
        """Read which action is wanted."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        show = actions.add_parser("show", help="print one version, the live one by default")
        _add_number(show)
        _add_json(show, "as the policy document")
        history = actions.add_parser("history", help="list the versions, the latest first")
        history.add_argument("--limit", type=int, default=20, help="how many (default 20)")
        _add_json(history)
        diff = actions.add_parser("diff", help="say what differs between two versions")
        diff.add_argument("before", type=int, metavar="FROM")
        diff.add_argument("after", type=int, metavar="TO")
        _add_json(diff)
        export = actions.add_parser("export", help="write a version as a file to import again")
        _add_number(export)
        kinds = export.add_mutually_exclusive_group()
        kinds.add_argument("--yaml", action="store_true", help="as YAML")
        _add_json(kinds, "as JSON, which is the default")
        export.add_argument("--out", type=Path, metavar="FILE", help="where to (default: here)")
        importing = actions.add_parser("import", help="make a file the policy, or add its layers")
        files.add_import_arguments(importing)
        _add_json(importing)
        _add_json(actions.add_parser("publish", help="make the rows live where they are not"))
        actions.add_parser("schema", help="print the JSON Schema of the policy document")
        recipe = actions.add_parser("recipe", help="print a layer to import, by what it is for")
        add_recipe_arguments(recipe)
        _add_json(actions.add_parser("lint", help="say what in the live policy does nothing"))
        rollback = actions.add_parser("rollback", help="make the policy what it was in a version")
        rollback.add_argument("number", type=int, metavar="N")
        _add_json(rollback)

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked for."""
        del args
        try:
            getattr(self, f"_{options['action']}")(options)
        except NotFound as error:
            raise CommandError(error.faults[0].message) from None

    def _show(self, options: dict[str, Any]) -> None:
        document = policies.export(number=options["number"])
        if options["json"]:
            self._write_json(document)
            return
        self.stdout.write(version_line(policies.version_or_live(number=options["number"])))
        self._write_lines(policy_lines(document))

    def _history(self, options: dict[str, Any]) -> None:
        versions = PolicyVersion.objects.all()[: options["limit"]]
        if options["json"]:
            self._write_json([version_wire(version) for version in versions])
            return
        for version in versions:
            self.stdout.write(version_line(version))

    def _diff(self, options: dict[str, Any]) -> None:
        numbers = {name: options[name] for name in ("before", "after")}
        changes = policies.diff(**numbers)
        if options["json"]:
            self._write_json({**numbers, "changes": changes})
            return
        self._write_lines(files.change_lines(changes))
        if not changes:
            self.stdout.write("no difference")

    def _export(self, options: dict[str, Any]) -> None:
        document = policies.export(number=options["number"])
        text = sources.write(document, as_yaml=options["yaml"])
        path: Path | None = options["out"]
        if path is None:
            self.stdout.write(text, ending="")
            return
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}") from error
        self.stdout.write(f"{path}: {quantity(len(document['layers']), 'layer')} written")

    def _import(self, options: dict[str, Any]) -> None:
        name = options["file"]
        try:
            with Progress(self.stderr, options) as tell:
                tell(f"reading {name}")
                text = files.read_file(name, options["format"])
                tell(f"comparing {name} with the policy and writing it")
                imported = import_text(
                    actor=Actor.system("policy import"),
                    text=text,
                    belonging=files.belonging_of(options),
                    options=ImportOptions(
                        mode=ImportMode.ADD if options["add"] else ImportMode.REPLACE,
                        dry_run=options["dry_run"],
                    ),
                )
        except (Faults, ServiceError) as error:
            self._refuse(name, error.faults, options)
        if options["json"]:
            self._write_json({"file": name, **imported.wire()})
        else:
            self._write_lines(files.imported_lines(name, imported))

    def _refuse(self, name: str, faults: Iterable[Fault], options: dict[str, Any]) -> NoReturn:
        told = list(faults)
        if options["json"]:
            self._write_json({"file": name, "faults": [fault.wire() for fault in told]})
        raise CommandError(files.refusal(name, told))

    def _schema(self, options: dict[str, Any]) -> None:
        del options
        self._write_json(policy_schema())

    def _recipe(self, options: dict[str, Any]) -> None:
        try:
            document = recipe_document(options)
        except Faults as error:
            raise CommandError(said(error.faults, "\n")) from None
        self.stdout.write(sources.write(document, as_yaml=options["yaml"]), ending="")

    def _lint(self, options: dict[str, Any]) -> None:
        found = lint.findings()
        if options["json"]:
            self._write_json(found.wire())
        else:
            self._write_lines(finding_lines(found))

    def _publish(self, options: dict[str, Any]) -> None:
        self._say(policies.publish(actor=Actor.system("policy publish")), as_json=options["json"])

    def _rollback(self, options: dict[str, Any]) -> None:
        actor = Actor.system("policy rollback")
        saved = policies.roll_back(actor=actor, number=options["number"])
        self._say(saved, as_json=options["json"])

    def _say(self, saved: Saved, *, as_json: bool) -> None:
        if as_json:
            self._write_json(
                {"changed": saved.changed, "policy": version_wire(policies.version_or_live())}
            )
        else:
            was = "" if saved.changed else "; it was so already"
            self.stdout.write(f"{policies.version_or_live()} is live{was}")

    def _write_json(self, value: Any) -> None:
        self.stdout.write(sources.write(value), ending="")

    def _write_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(printable(line))


def _add_json(parser: Any, help_text: str = "answer as JSON") -> None:
    parser.add_argument("--json", action="store_true", help=help_text)


def _add_number(parser: ArgumentParser) -> None:
    parser.add_argument("--version", dest="number", type=int, metavar="N", help="which version")
