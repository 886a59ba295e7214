"""What the system checks say of the triggers of this database."""

from django.core.checks import CheckMessage, Tags, run_checks


def faults() -> list[CheckMessage]:
    return run_checks(tags=[Tags.database], databases=["default"])
