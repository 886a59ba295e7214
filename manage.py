#!/usr/bin/env python
"""Run Django's and the product's commands: `python manage.py help`."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

# It makes a key that the settings of every other command demand.
MAKES_KEYS = ["audit", "new-key"]


def main() -> None:
    """Run one command; wrong settings end it with their list instead of a traceback."""
    if sys.argv[1:3] == MAKES_KEYS:
        os.environ["DJANGO_SETTINGS_MODULE"] = "project.keyless"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        sys.exit(str(fault))


if __name__ == "__main__":
    main()
