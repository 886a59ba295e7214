"""One of the processes that race in `test_races`: changes one rule and adds others, many times."""

import sys

import django

django.setup()

from toolpolicy.models import Rule  # noqa: E402
from toolpolicy.services import policies  # noqa: E402
from toolpolicy.services.actors import Actor  # noqa: E402
from toolpolicy.services.errors import Stale  # noqa: E402

RACER = Actor.system("racer")


def count_up(rule: int) -> None:
    """Add one to the number that the rule's reason is: read, change, save, again when stale."""
    while True:
        seen = Rule.objects.select_related("layer").get(pk=rule)
        version, values = seen.layer.version, {"reason": str(int(seen.reason) + 1)}
        try:
            policies.update_rule(actor=RACER, rule=rule, version=version, values=values)
        except Stale:
            continue
        return


def run(rule: int, times: int) -> None:
    layer = Rule.objects.get(pk=rule).layer_id
    for _ in range(times):
        count_up(rule)
        values = {"effect": "hide", "position": 0}
        policies.create_rule(actor=RACER, layer=layer, values=values)


if __name__ == "__main__":
    run(int(sys.argv[1]), int(sys.argv[2]))
