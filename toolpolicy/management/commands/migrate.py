"""Django's `migrate`, which does not end well when the database lost its triggers."""

from typing import Any

from django.core.checks import Tags, run_checks
from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangoMigrate


class Command(DjangoMigrate):
    """Migrate, then prove that the triggers on written-once tables stand."""

    help = f"{DjangoMigrate.help} Fails when the triggers that keep records do not stand."

    def check(self, *args: Any, **options: Any) -> None:
        """Leave the database checks for afterwards: a migration may be what they ask for."""
        super().check(*args, **{**options, "databases": None})

    def handle(self, *args: Any, **options: Any) -> None:
        """Run Django's command, then the database checks, whatever `--skip-checks` says."""
        super().handle(*args, **options)
        if options["plan"] or options["check_unapplied"]:
            return
        faults = run_checks(tags=[Tags.database], databases=[options["database"]])
        errors = [fault for fault in faults if fault.is_serious()]
        if errors:
            raise CommandError("\n".join(str(error) for error in errors))
