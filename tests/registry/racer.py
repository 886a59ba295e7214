"""One of the processes that race in `test_version_race`: lays its own words over one tool."""

import sys

import django

django.setup()

from toolpolicy.services import registry  # noqa: E402
from toolpolicy.services.actors import Actor  # noqa: E402
from toolpolicy.services.errors import Stale  # noqa: E402

RACER = Actor.system("racer")


def add_tag(tag: str) -> None:
    """Add one tag to those laid over the tool: read, change, save, again when stale."""
    while True:
        seen = registry.find_tool("box", "run")
        laid = {"overrides": {"tags": [*seen.overrides.get("tags", []), tag]}}
        try:
            registry.update_tool(
                actor=RACER, family="box", name="run", version=seen.version, laid=laid
            )
        except Stale:
            continue
        return


def describe(word: str) -> None:
    """Add one word to what the family says of itself, the same way."""
    while True:
        family = registry.find_tool("box", "run").family
        values = {"description": f"{family.description} {word}"}
        try:
            registry.update_family(actor=RACER, name="box", version=family.version, values=values)
        except Stale:
            continue
        return


if __name__ == "__main__":
    for number in range(int(sys.argv[2])):
        add_tag(f"{sys.argv[1]}-{number}")
        describe(f"{sys.argv[1]}-{number}")
