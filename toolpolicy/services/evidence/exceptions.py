"""What about a change an auditor looks at first, said only where records or accounts prove it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.policy_grades import Direction
from toolpolicy.models import Freeze
from toolpolicy.models.choices import RecordKind, ToolState
from toolpolicy.services.actors import ActorKind
from toolpolicy.services.baseline import BASELINE_NAMES
from toolpolicy.services.evidence.entries import is_policy, state_change, tools_of
from toolpolicy.services.evidence.people import Person, everybody

Wire = Mapping[str, Any]


class ExceptionCode(StrEnum):
    """Why a change stands out."""

    TEXT_GONE = "text_gone"
    LOG_REPAIRED = "log_repaired"
    LOOSENS = "loosens"
    BASELINE = "baseline"
    SUPERUSER = "superuser"
    NOBODY = "nobody"
    ROLE_LOST = "role_lost"
    NO_REASON = "no_reason"
    QUARANTINE_LIFTED = "quarantine_lifted"
    LIFTED_BY_ANOTHER = "lifted_by_another"
    OWN_RIGHTS = "own_rights"
    MADE_SUPERUSER = "made_superuser"
    KEY_WITHOUT_END = "key_without_end"


WORDS: Final[Mapping[str, Any]] = {
    ExceptionCode.TEXT_GONE: _("its text is no longer kept"),
    ExceptionCode.LOG_REPAIRED: _("the log was repaired"),
    ExceptionCode.LOOSENS: _("part of it can only loosen"),
    ExceptionCode.BASELINE: _("touches the baseline layers"),
    ExceptionCode.SUPERUSER: _("by a superuser"),
    ExceptionCode.NOBODY: _("by a command, no person named"),
    ExceptionCode.ROLE_LOST: _("its author could not do it now"),
    ExceptionCode.NO_REASON: _("rolled back without a reason"),
    ExceptionCode.QUARANTINE_LIFTED: _("quarantine lifted"),
    ExceptionCode.LIFTED_BY_ANOTHER: _("freeze lifted by somebody else"),
    ExceptionCode.OWN_RIGHTS: _("changed their own rights"),
    ExceptionCode.MADE_SUPERUSER: _("made a superuser"),
    ExceptionCode.KEY_WITHOUT_END: _("a key that never expires"),
}
RIGHTS: Final = ("groups", "permissions", "is_active", "is_staff", "is_superuser")
_POLICY: Final = frozenset(
    {
        "publish_policy",
        *(f"{do}_{on}" for do in ("add", "change", "delete") for on in ("layer", "rule")),
    }
)
_REGISTRY: Final = frozenset(
    f"{do}_{on}" for do in ("add", "change") for on in ("tool", "toolfamily")
)
_FREEZES: Final = frozenset({"add_freeze", "change_freeze"})
_KEYS: Final = frozenset({"add_apiclient", "change_apiclient"})
CHANGING: Final = _POLICY | _REGISTRY | _FREEZES | _KEYS


@dataclass(frozen=True, slots=True)
class Known:
    """What the records are held against: the accounts of now, and who froze what."""

    people: Mapping[str, Person]
    frozen_by: Mapping[str, tuple[int | None, str]]

    @property
    def superusers_only(self) -> bool:
        """Whether nobody else may change anything: then it says nothing that a superuser did."""
        acting = [one for one in self.people.values() if one.may_any(CHANGING)]
        return all(one.superuser for one in acting) and bool(acting)

    @classmethod
    def now(cls) -> "Known":
        """Read it. Five queries."""
        lifted = Freeze.objects.filter(lifted_at__isnull=False).order_by()
        rows = lifted.values_list("pk", "created_by_id", "created_by_label")
        return cls(
            people={person.key: person for person in everybody()},
            frozen_by={str(key): (user, label) for key, user, label in rows},
        )


def exceptions_of(entry: Wire, body: Wire, known: Known) -> list[str]:
    """Return the codes of what stands out about a change, in the order of `ExceptionCode`."""
    found = {*_of_record(entry, body), *_of_actor(entry, body, known), *_of_change(body, known)}
    return [str(code) for code in ExceptionCode if code in found]


def _of_record(entry: Wire, body: Wire) -> Iterator[ExceptionCode]:
    if not body:
        yield ExceptionCode.TEXT_GONE
    if entry["kind"] == RecordKind.REPAIR:
        yield ExceptionCode.LOG_REPAIRED
    if is_policy(body):
        yield from _of_policy(entry, body)


def _of_policy(entry: Wire, body: Wire) -> Iterator[ExceptionCode]:
    differences = entry["differences"]
    if any(change.get("grade") == Direction.LOOSENS for change in differences):
        yield ExceptionCode.LOOSENS
    touched = (one for one in differences if one["change"] != "moved" or "rule" in one)
    if any(
        one["layer"] in BASELINE_NAMES and (one["change"] != "added" or "rule" in one)
        for one in touched
    ):
        yield ExceptionCode.BASELINE
    # Of a roll-back alone, somebody is asked why.
    if body.get("action") == "roll_back" and ": " not in entry["comment"]:
        yield ExceptionCode.NO_REASON


def _of_actor(entry: Wire, body: Wire, known: Known) -> Iterator[ExceptionCode]:
    actor = body.get("actor") or {}
    kind = actor.get("kind")
    account = entry["kind"] in (RecordKind.PERMISSION, RecordKind.ACCESS)
    if kind == ActorKind.SYSTEM:
        yield ExceptionCode.NOBODY
    if kind != ActorKind.USER:
        return
    # Nobody else manages accounts, so of those it would be no exception.
    if actor.get("superuser") and not account and not known.superusers_only:
        yield ExceptionCode.SUPERUSER
    person = known.people.get(str(actor.get("user")))
    needed = _needed(body)
    superuser = person is not None and person.active and person.superuser
    may = superuser if account else person is not None and person.may_any(needed)
    if (needed or account) and not may:
        yield ExceptionCode.ROLE_LOST


def _needed(body: Wire) -> frozenset[str]:
    """Return the permissions of which a person needs one for such a change."""
    if is_policy(body):
        return _POLICY
    if "freeze" in body:
        return _FREEZES
    if "key" in body:
        return _KEYS
    return _REGISTRY if "registry" in body else frozenset()


def _of_change(body: Wire, known: Known) -> Iterator[ExceptionCode]:
    states = [state_change(pair) for pair in tools_of(body)]
    if any(was == ToolState.QUARANTINED and now == ToolState.ACTIVE for was, now in states):
        yield ExceptionCode.QUARANTINE_LIFTED
    if "freeze" in body and body.get("action") == "lift" and _is_another(body, known):
        yield ExceptionCode.LIFTED_BY_ANOTHER
    if body.get("action") == "create_key" and body["key"]["expires_at"] is None:
        yield ExceptionCode.KEY_WITHOUT_END
    if body.get("action") == "change_account":
        yield from _of_account(body)


def _is_another(body: Wire, known: Known) -> bool:
    """Tell whether somebody else lifted a freeze than who made it, as far as both are known."""
    actor: Wire = body["actor"]
    made = known.frozen_by.get(body["freeze"]["id"])
    if made is None:
        return False
    user, label = made
    by: tuple[str, str] = (actor.get("user", ""), actor["label"])
    # A name alone tells people apart only where the account is no longer there.
    return str(user) != by[0] if user is not None and by[0] else label != by[1]


def _of_account(body: Wire) -> Iterator[ExceptionCode]:
    before, after = body.get("before") or {}, body.get("after") or {}
    if after.get("is_superuser") and not before.get("is_superuser"):
        yield ExceptionCode.MADE_SUPERUSER
    own = body["object"]["account"] == body["actor"]["label"] and "username" in after
    if own and any(before.get(name) != after.get(name) for name in RIGHTS):
        yield ExceptionCode.OWN_RIGHTS
