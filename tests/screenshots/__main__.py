"""Pictures of every page of the admin: `python -m tests.screenshots OUT [NAME …]`.

A server with the demo and believable counts is started for it, on a database of its own. Each page
of `tests.admin.page_list` is taken at three widths and in both themes, as
`OUT/<page>-<width>-<theme>.png`. Names narrow it to the pages that have one of them in theirs.
"""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import django


def main(out: Path, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["DATABASE_URL"] = f"sqlite:///{scratch}/pictures.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        # Playwright keeps a loop running in this thread; Django would refuse every query beside it.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        django.setup()
        # It imports models, so it waits for the applications.
        import_module("tests.screenshots.pictures").take_all(out, names)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tests.screenshots OUT [NAME …]")
    main(Path(sys.argv[1]), sys.argv[2:])
