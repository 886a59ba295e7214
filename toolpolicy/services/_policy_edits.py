"""What an editor sends about a layer or a rule, laid over its entry in the policy document.

The members are those of the API. Nothing is judged here but the names of members: the whole
document is parsed afterwards, and `sent_faults` says what is wrong in terms of what was sent.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from toolpolicy.engine.faults import Fault, shown, token
from toolpolicy.engine.reading import time_text
from toolpolicy.models.choices import Combining, Scope
from toolpolicy.services._policy_rows import Wire
from toolpolicy.services.errors import InvalidInput, unknown_members

LAYER_MEMBERS: Final = (
    *("name", "scope", "target", "combining", "default", "position", "enabled", "fail_safe"),
    *("may_waive_approval", "observe", "valid_from", "valid_until", "description"),
)
RULE_MEMBERS: Final = (
    *("id", "effect", "on", "match", "except", "when", "reason", "position"),
    *("enabled", "observe", "expires_at", "examples", "approval"),
)
_IN_POLICY: Final = frozenset({"name", "default"})
_IN_ENTRY: Final = frozenset({"scope", "target", "position", "combining"})
_IN_RULE: Final = frozenset({"effect", "on", "match", "except", "when", "reason"})
# What each of these may also be when it says nothing; the document then leaves it out.
_NOTHING: Final[Mapping[str, tuple[Any, ...]]] = {
    "target": (None,),
    "valid_from": (None,),
    "valid_until": (None,),
    "expires_at": (None,),
    "except": (None,),
    "reason": (None, ""),
    "approval": (None, {}),
}
# The same for an ordered layer and its rules, which have none of these: a form sends them all.
_NOTHING_ORDERED: Final[Mapping[str, tuple[Any, ...]]] = {
    **_NOTHING,
    "default": (None, ""),
    "fail_safe": (None, False),
    "on": (None, []),
}
_LONGEST_PART: Final = 60


def refuse_unknown(sent: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise InvalidInput that names every member that is not known."""
    faults = unknown_members(sent, known)
    if faults:
        raise InvalidInput(faults)


def edit_layer(entry: Wire, sent: Mapping[str, Any]) -> None:
    """Lay what was sent about a layer over `entry`."""
    refuse_unknown(sent, LAYER_MEMBERS)
    settings = entry.setdefault("settings", {})
    # Left out, it follows the scope; a change of scope alone must not change it too.
    settings.setdefault("may_waive_approval", entry["scope"] == Scope.CONFIG)
    nothing = _nothing(entry)
    for name, value in sent.items():
        if name in _IN_ENTRY:
            _put(entry, name, value, nothing)
        else:
            _put(entry["policy"] if name in _IN_POLICY else settings, name, value, nothing)


def edit_rule(entry: Wire, index: int, sent: Mapping[str, Any]) -> None:
    """Lay what was sent about a rule over the rule at `index` of `entry`; not its position."""
    refuse_unknown(sent, RULE_MEMBERS)
    rule = entry["policy"]["rules"][index]
    all_settings = entry.setdefault("settings", {}).setdefault("rules", {})
    settings = all_settings.pop(rule["id"], {})
    if "id" in sent:
        rule["id"] = _checked_id(sent["id"])
    nothing = _nothing(entry)
    for name, value in sent.items():
        if name in _IN_RULE:
            mode = name == "effect" and entry["combining"] == Combining.LAST_MATCH
            _put(rule, "mode" if mode else name, value, nothing)
        elif name not in ("id", "position"):
            _put(settings, name, value, nothing)
    if settings:
        # Where another rule has this id the parser finds it; its settings stay as they are.
        all_settings.setdefault(rule["id"], settings)


def _nothing(entry: Wire) -> Mapping[str, tuple[Any, ...]]:
    return _NOTHING_ORDERED if entry["combining"] == Combining.LAST_MATCH else _NOTHING


def _put(target: Wire, name: str, value: Any, nothing: Mapping[str, tuple[Any, ...]]) -> None:
    if any(type(value) is type(empty) and value == empty for empty in nothing.get(name, ())):
        target.pop(name, None)
    else:
        target[name] = time_text(value) if isinstance(value, datetime) else value


def _checked_id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput([Fault("/id", "expected a string that is not empty")])
    return value


def new_id(sent: Mapping[str, Any], taken: Iterable[str]) -> str:
    """Return the id that was sent, or one made from the effect and the first name pattern.

    >>> new_id({"effect": "deny", "match": {"name": ["mail__send*", "x"]}}, {"deny-mail__send"})
    'deny-mail__send-2'
    """
    if sent.get("id") not in (None, ""):
        return _checked_id(sent["id"])
    match = sent.get("match")
    about = next(iter(match.values()), "") if isinstance(match, dict) else ""
    first = match.get("name", about) if isinstance(match, dict) else about
    pattern = first[0] if isinstance(first, list) and first else first
    words = (str(sent.get("effect")), pattern if isinstance(pattern, str) else "")
    parts = [re.sub(r"[^A-Za-z0-9._:-]+", "-", word[:_LONGEST_PART]).strip("-.:") for word in words]
    stem = f"{parts[0] or 'rule'}-{parts[1] or 'all'}"
    known, number = set(taken), 1
    while (name := stem if number == 1 else f"{stem}-{number}") in known:
        number += 1
    return name


# --- faults --------------------------------------------------------------------------------------


def sent_faults(faults: Iterable[Fault], layer: int, rule: tuple[int, str] | None) -> list[Fault]:
    """Return the faults of a whole document in terms of the layer, or the rule, that was sent.

    `layer` is its index in the document, `rule` the index and id of the rule. A fault elsewhere
    keeps its sentence and says where it is.
    """
    if rule is None:
        places = [f"/layers/{layer}/{part}" for part in ("policy", "settings")]
        places.append(f"/layers/{layer}")
    else:
        places = [
            f"/layers/{layer}/policy/rules/{rule[0]}",
            f"/layers/{layer}/settings/rules/{token(rule[1])}",
        ]
    return [_sent_fault(fault, places, "/id" if rule else "/name") for fault in faults]


def _sent_fault(fault: Fault, places: list[str], identity: str) -> Fault:
    if fault.code == "duplicate" and identity == "/name":
        said = fault.message.replace("stands twice", "is the name of another layer already")
        fault = replace(fault, message=said)
    for place in places:
        if fault.pointer == place or fault.pointer.startswith(f"{place}/"):
            pointer = fault.pointer.removeprefix(place)
            return fault.moved("/effect" if pointer == "/mode" else pointer)
    if fault.code == "duplicate":  # found on the later of the two, which may be the other one
        return fault.moved(identity)
    message = f"at {shown(fault.pointer)} of the policy: {fault.message}"
    return replace(fault, pointer="", message=message)


def place_of(value: Any, last: int) -> int:
    """Return the place of a rule, from 0 to `last`. Raise InvalidInput."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= last:
        raise InvalidInput([Fault("/position", f"expected an integer from 0 to {last}")])
    return value
