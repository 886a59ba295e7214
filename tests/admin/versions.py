"""A policy of three versions, and the pages that show them."""

import re

from tests.admin.pages import address
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import PolicyVersion
from toolpolicy.services import policies

COMPARE = address("policyversion", "compare")


def three_versions():
    """Make three versions: a layer, a rule of it, and the rule changed. Return the layer."""
    imported(named("calc", "mail_send"))
    layer = make_layer("house rules")
    rule = make_rule(layer, id="no-mail", match={"name": "mail_*"}, reason="first")
    policies.update_rule(
        actor=SYSTEM,
        rule=rule.pk,
        version=layer.version,
        values={"match": {"name": ["mail_*", "calc"]}, "when": {"agent": "clerk"}},
    )
    return layer


def page_of(number: int, page: str = "change") -> str:
    return address("policyversion", page, PolicyVersion.objects.get(number=number).pk)


def plain(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.replace("<wbr>", "")).split())
