#!/usr/bin/env python
"""Run Django's and the product's commands: `python manage.py help`."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    """Run one command; wrong settings end it with their list instead of a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        sys.exit(str(fault))


if __name__ == "__main__":
    main()
