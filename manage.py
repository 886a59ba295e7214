#!/usr/bin/env python
"""Run Django's and the product's commands: `python manage.py help`."""

import os
import select
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

# It makes a key that the settings of every other command demand.
MAKES_KEYS = ["audit", "new-key"]
# Exit status: of a verification that verified nothing, for 1 says that the log is broken; and of
# what was not read to its end, as shells have it for SIGPIPE.
NOTHING_SAID, NOT_READ = 2, 141


def main() -> None:
    """Run one command. Wrong settings, or a reader that goes away, end it without a traceback."""
    if sys.argv[1:3] == MAKES_KEYS:
        os.environ["DJANGO_SETTINGS_MODULE"] = "project.keyless"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        verifies = sys.argv[1:2] == ["audit"] and "verify" in sys.argv
        sys.stderr.write(f"{fault}\n")
        sys.exit(NOTHING_SAID if verifies else 1)
    except BrokenPipeError:
        if not nobody_reads():  # it is the pipe of something else
            raise
        sys.exit(NOT_READ)
    finally:
        if nobody_reads():
            # What waits to be written is let go: Python would try once more, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def nobody_reads() -> bool:
    """Tell whether standard output is a pipe whose reader went away."""
    if not sys.stdout:  # it was closed from the beginning
        return False
    output = select.poll()
    output.register(sys.stdout, 0)
    return bool(output.poll(0))


if __name__ == "__main__":
    main()
