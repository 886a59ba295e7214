"""A question in an address, so that it can be sent to somebody: wire form ⇄ query string."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.http import urlencode

from toolpolicy.engine import canonical, strictjson
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.engine.values import ABSENT

# The context that most questions have stands under its own names, any other under a prefix.
OWN: Final = ("agent", "channel", "session")
CONTEXT: Final = "context."
TEXTS: Final = ("tool", "family", "surface")
DOCUMENTS: Final = ("arguments", "subject", "targets")
# Servers refuse an address of some 4,000 characters; ours leaves room for the rest of it.
LONGEST: Final = 3_500
Link = dict[str, str]
Wire = dict[str, Any]


def link_of(question: Mapping[str, Any]) -> Link:
    """Return a question in wire form as the parameters of an address."""
    link: Link = {"surface": question["surface"]}
    tool = question.get("tool")
    if isinstance(tool, dict):
        link |= {"tool": tool["name"], "family": tool.get("family") or ""}
    elif tool is not None:
        link["tool"] = tool
    for name in DOCUMENTS:
        if name in question:
            link[name] = canonical.dumps(question[name])
    link |= {parameter(key): value for key, value in question.get("context", {}).items()}
    return {name: value for name, value in link.items() if value}


def read_link(parameters: Mapping[str, str]) -> Link:
    """Return what of an address is about the question."""
    return {
        name: value
        for name, value in parameters.items()
        if value and (name in (*TEXTS, *DOCUMENTS) or context_key(name))
    }


def parameter(key: str) -> str:
    """Return the parameter that holds a context key."""
    return key if key in OWN else f"{CONTEXT}{key}"


def context_key(name: str) -> str:
    """Return the context key that a parameter holds; "" for one that holds none."""
    if name in OWN:
        return name
    return name.removeprefix(CONTEXT) if name.startswith(CONTEXT) else ""


def context_of(link: Link) -> dict[str, str]:
    """Return the context of a link."""
    return {key: value for name, value in link.items() if (key := context_key(name))}


def wire_of(link: Link) -> Wire:
    """Return the question in wire form; nothing of it is checked but that JSON is JSON.

    Raises `Faults`, with the parameter's name first in each pointer.
    """
    wire: Wire = {"surface": link.get("surface", "call")}
    if "tool" in link:
        family = {"family": link["family"]} if "family" in link else {}
        wire["tool"] = {"name": link["tool"], **family}
    faults: list[Fault] = []
    for name in DOCUMENTS:
        if name in link:
            try:
                wire[name] = strictjson.loads(link[name].encode("utf-8", "surrogatepass"))
            except Faults as refused:
                faults += [fault.moved(f"/{name}{fault.pointer}") for fault in refused.faults]
    if faults:
        raise Faults(faults)
    wire["context"] = context_of(link)
    return wire


def arguments_in(link: Link) -> Any:
    """Return the arguments of a link: `ABSENT` for none. Raises `Faults`."""
    return wire_of({"arguments": link["arguments"]})["arguments"] if "arguments" in link else ABSENT


def query_of(link: Link, **more: str) -> str | None:
    """Return the query string of a link; None for one that is too long for an address."""
    query = urlencode({**link, **more})
    return query if len(query) <= LONGEST else None
