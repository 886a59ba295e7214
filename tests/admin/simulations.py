"""A question put to the simulator as its page puts it, and a tool to ask about."""

from tests.factories import make_layer, make_rule
from tests.registry.samples import imported
from toolpolicy.models import Record

SCHEMA = {
    "type": "object",
    "required": ["branch"],
    "properties": {
        "branch": {"type": "string", "description": "Where <b>to</b>"},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "force": {"type": "boolean"},
        "files": {"type": "array"},
    },
}


def protected_push():
    """Register a tool with arguments of every simple type, and a rule that refuses one value."""
    imported({"tools": [{"name": "push", "inputSchema": SCHEMA}]}, family="git")
    layer = make_layer()
    match = {"name": "push", "arg": {"pointer": "/branch", "value": "main"}}
    return make_rule(layer, id="main-is-protected", match=match, reason="ask for a review")


def simulations():
    return Record.objects.filter(kind="simulation")


def fields_of(response) -> dict[str, str]:
    """Return the names of the fields of the arguments by what they ask for."""
    return {a.name: field.name for a, field in response.context["form"].arguments_shown()}


def ask(client, page, **sent):
    return client.post(page, {"act": "simulate", "surface": "call", "shown": "", **sent})


def answer_to(client, page, **sent):
    response = ask(client, page, **sent)
    assert response.status_code == 302, response.context["form"].errors
    return client.get(response["Location"].partition("#")[0])
