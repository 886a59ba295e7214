"""Fill an empty database with a large store: `python -m tests.seeding --records 1000000`.

`DATABASE_URL` says which; it is migrated first.
"""

import argparse
import os
import sys

import django


def main() -> None:
    """Seed."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeding", description=__doc__)
    for name, number in (("rules", 5_000), ("tools", 1_000), ("records", 1_000_000)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--texts", type=int, help="how many of the newest records keep their text")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    # Both need Django set up.
    from django.core.management import call_command  # noqa: PLC0415

    from tests.seeding.store import Size, seed  # noqa: PLC0415
    from toolpolicy.models import Record  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    if Record.objects.exists():
        parser.error("there are records in this database already; name an empty one")
    texts = options.records if options.texts is None else options.texts
    size = Size(rules=options.rules, tools=options.tools, records=options.records, texts=texts)
    seed(size, say=lambda text: print(text, file=sys.stderr, flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
