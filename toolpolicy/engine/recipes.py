"""Layers for the six places where hosts of agents restrict tools today, one function each.

Every function returns one layer, to be imported like any other (docs/recipes). They raise `Faults`
for what no layer can hold; an allowlist without a name is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from toolpolicy.engine.documents import FORMAT, allow_deny_layer, parse_policy
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.engine.formats import Place, preferences_layer
from toolpolicy.engine.values import Layer, LayerSettings, Patterns
from toolpolicy.engine.words import Combining, Effect, Permission, Scope

Json = dict[str, Any]
_LEVELS: Final = tuple(Permission)


def agent_allowlist(agent: str, allow: Sequence[str], deny: Sequence[str] = ()) -> Layer:
    """Return an agent's allowlist: nothing else runs, and of it nothing that `deny` names.

    >>> layer = agent_allowlist("coder-*", ["read_*", "git_*"], ["git_push"])
    >>> str(layer.default), [(str(rule.effect), rule.match[0].patterns) for rule in layer.rules]
    ('deny', [('allow', ('read_*', 'git_*')), ('deny', ('git_push',))])
    """
    _need(allow, "allow")
    settings = LayerSettings(
        scope=Scope.AGENT, target=(agent,), fail_safe=True, may_waive_approval=False
    )
    name = f"agent {agent}: allowlist"
    return replace(allow_deny_layer(allow, deny), name=name, settings=settings)


def channel_ceiling(channel: str, level: Permission) -> Layer:
    """Return a channel's ceiling: tools above a permission level, or without one, are refused.

    >>> channel_ceiling("public-*", Permission.READ_ONLY).rules[0].match
    (PermissionIs(level=<Permission.WRITE: 'Write'>, or_higher=True),)
    """
    above = _LEVELS[_LEVELS.index(level) + 1 :]
    if not above:
        raise Faults([Fault("/level", f"nothing is above `{level}`: it is no ceiling")])
    rule = {
        "id": "above-the-ceiling",
        "effect": str(Effect.DENY),
        "match": {"permission_at_least": str(above[0])},
        "reason": f"this channel is for tools up to {level}",
    }
    return _strict(f"channel {channel}: ceiling", [rule], Scope.CHANNEL, (channel,))


def server_filter(family: str, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> Layer:
    """Return an MCP server's tool filter: only `allow` of the family (none: all), not `deny`.

    >>> [rule.id for rule in server_filter("github", deny=["mcp__github__delete_*"]).rules]
    ['filtered-out']
    """
    _need([*allow, *deny], "allow")
    rules = [_only({"family": family}, allow)] if allow else []
    if deny:
        match = {"family": family, "name": list(deny)}
        rules.append({"id": "filtered-out", "effect": str(Effect.DENY), "match": match})
    return _strict(f"server {family}: tool filter", rules)


def connector_curation(actions: str, curated: Sequence[str]) -> Layer:
    """Return a connector's curation: of the actions so named only the curated ones are there.

    It holds for calls through a dispatcher too, since those are judged by the action they name.

    >>> connector_curation("GMAIL_*", ["GMAIL_FETCH_EMAILS"]).rules[0].exception
    (TextIs(field='name', patterns=('GMAIL_FETCH_EMAILS',)),)
    """
    _need(curated, "curated")
    return _strict(f"connector {actions}: curated", [_only({"name": actions}, curated)])


def user_toggles(session: str, toggles: Mapping[str, str]) -> Layer:
    """Return what a user switched in a session: tool or group to `on`, `ask`, `off` or `auto`.

    >>> [str(rule.mode) for rule in user_toggles("s-1", {"mail": "off", "mail_read": "on"}).rules]
    ['off', 'on', 'off', 'on']
    """
    _need(list(toggles), "toggles")
    place = Place(name=f"session {session}: toggles", scope=Scope.SESSION, target=(session,))
    return preferences_layer(toggles, place)


def approval_allowlist(allow: Sequence[str]) -> Layer:
    """Return an approval allowlist: what it names runs at once, everything else asks first.

    >>> [str(rule.effect) for rule in approval_allowlist(["read_*"]).rules]
    ['require_approval', 'auto_approve']
    """
    _need(allow, "allow")
    names = {"name": list(allow)}
    rules: list[Json] = [
        {"id": "ask-first", "effect": str(Effect.REQUIRE_APPROVAL), "except": names},
        {"id": "run-at-once", "effect": str(Effect.AUTO_APPROVE), "match": names},
    ]
    return _strict("approval allowlist", rules)


def _need(names: Sequence[str], member: str) -> None:
    if not names:
        raise Faults([Fault(f"/{member}", "name at least one tool", "missing")])


def _only(match: Json, names: Sequence[str]) -> Json:
    return {
        "id": "not-on-the-list",
        "effect": str(Effect.DENY),
        "match": match,
        "except": {"name": list(names)},
    }


def _strict(
    name: str, rules: Sequence[Json], scope: Scope = Scope.CONFIG, target: Patterns | None = None
) -> Layer:
    entry: Json = {
        "scope": str(scope),
        "position": 0,
        "combining": str(Combining.DENY_OVERRIDES),
        "settings": {"fail_safe": True},
        "policy": {"name": name, "rules": list(rules)},
    }
    if target is not None:
        entry["target"] = list(target)
    return parse_policy({"format": FORMAT, "layers": [entry]}).layers[0]
