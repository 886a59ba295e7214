"""A log with a record of each kind that tells of rows, and what somebody may do to these rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from django.db import connection

from tests.audit.logs import triggers_lifted
from tests.audit.tampers import undone
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.audit import sealer
from toolpolicy.models import ApiClient, Freeze, Leaf, LegalHold
from toolpolicy.services import clients, freezes, holds, masking, setup

LATER: Final = "'2099-01-01 00:00:00+00:00'"
LONG_AGO: Final = "'2001-01-01 00:00:00+00:00'"
Label = tuple[str, str]
"""The kind of a record, and what it is about."""
NO_RECORD: Final[Label] = ("", "")


def freeze(tool: str, until: Any = None) -> Freeze:
    values = {"kind": "tool", "value": tool, "reason": "a leak", "until": until}
    return freezes.freeze(actor=SYSTEM, values=values)


def hold(name: str) -> LegalHold:
    values = {"name": name, "reason": "a claim", "filter": {"agent": "a"}}
    return holds.place(actor=SYSTEM, values=values)


def key(name: str, **values: Any) -> ApiClient:
    said = {"name": name, "scopes": ["decide"], "pinned_context": {"agent": "a"}, **values}
    return clients.create(actor=SYSTEM, values=said)[0]


def build() -> None:
    """Do what leaves each kind of record, and seal it."""
    setup.setup(actor=SYSTEM)
    make_rule(make_layer(), id="drops", match={"name": "drop_*"})
    imported(named("read", "wipe"))
    masking.change(actor=SYSTEM, version=1, rules={"keys": ["pin"]})
    freeze("wipe")
    freezes.lift(actor=SYSTEM, freeze=freeze("read").pk)
    hold("case 7")
    holds.lift(actor=SYSTEM, hold=hold("case 8").pk)
    key("bot")
    clients.revoke(actor=SYSTEM, client=key("old").pk)
    sealer.seal_all()


def number(label: Label) -> int | None:
    """Return the number of the newest record of a kind that is about something."""
    kind, about = label
    found = Leaf.objects.filter(record__kind=kind, record__object_label=about)
    return found.order_by("-seq").values_list("seq", flat=True).first()


# --- what somebody does ---------------------------------------------------------------------------


def update(table: str, sets: str, where: str) -> str:
    return f"UPDATE toolpolicy_{table} SET {sets} WHERE {where}"  # noqa: S608  (our own words)


def delete(table: str, where: str) -> str:
    return f"DELETE FROM toolpolicy_{table} WHERE {where}"  # noqa: S608


def insert(table: str, **values: str) -> str:
    names, given = ", ".join(values), ", ".join(values.values())
    return f"INSERT INTO toolpolicy_{table} ({names}) VALUES ({given})"  # noqa: S608


def one(column: str, table: str, where: str) -> str:
    return f"(SELECT {column} FROM toolpolicy_{table} WHERE {where})"  # noqa: S608


def state(sets: str) -> str:
    return update("policystate", sets, "id = 1")


def do(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def done(*statements: str) -> Iterator[None]:
    """Do it past every trigger, and take it back in the end."""
    with undone(), triggers_lifted():
        do(*statements)
        yield


class Case(NamedTuple):
    """What somebody does, of which kind it is, what is said of it, and which record tells.

    SEQ in the words stands for the record's number.
    """

    does: tuple[str, ...]
    kind: str
    words: str
    by: Label


# --- cases ----------------------------------------------------------------------------------------

LIVE: Final = ("change", "house rules / drops")
REGISTRY, SETTINGS, MASKING = ("import", "box"), ("change", "settings"), ("change", "masking")
FROZEN, HELD, BOT = ("freeze", "tool wipe"), ("hold", "case 7"), ("key", "bot")
VERSION: Final = "policyversion"
DECLARED: Final = one("current_id", "tool", "name = 'wipe'")
FIRST: Final = one("document_id", VERSION, "number = 1")


def freeze_row(sets: str) -> tuple[str, ...]:
    return (update("freeze", sets, "value = 'wipe'"),)


def hold_row(sets: str) -> tuple[str, ...]:
    return (update("legalhold", sets, "name = 'case 7'"),)


def key_row(sets: str) -> tuple[str, ...]:
    return (update("apiclient", sets, "name = 'bot'"),)


OWN_VERSION: Final = {
    "number": "9",
    "document_id": FIRST,
    "published_at": LATER,
    **dict.fromkeys(("published_by_label", "comment", "request_id"), "''"),
}
OWN_FREEZE: Final = {
    "kind": "'tool'",
    "value": "'mail'",
    "reason": "'x'",
    "created_at": LONG_AGO,
    "created_by_label": "''",
}
OWN_KEY: Final = {
    "name": "'x'",
    "key_id": "'evil'",
    "secret_hash": "''",
    "scopes": "'[]'",
    "pinned_context": "'{}'",
    "owner_label": "''",
    "created_at": LONG_AGO,
}
OWN_HOLD: Final = {
    "name": "'x'",
    "reason": "'x'",
    "filter": "'{}'",
    "created_at": LONG_AGO,
    **dict.fromkeys(("created_by_label", "lifted_by_label"), "''"),
}
POLICY: Final = {
    "an older version is made live": Case(
        (state(f"live_id = {one('id', VERSION, 'number = 1')}"),),
        *("altered", "version 1 is live; record SEQ says that version 3 is", LIVE),
    ),
    "a version of their own is made live": Case(
        (
            insert(VERSION, **OWN_VERSION),
            state(f"live_id = {one('id', VERSION, 'number = 9')}"),
        ),
        *("altered", "version 9 is live; record SEQ says that version 3 is", LIVE),
    ),
    "the live version gets another document": Case(
        (update(VERSION, f"document_id = {FIRST}", "number = 3"),),
        *("altered", "the live version 3 has the document `sha256:", LIVE),
    ),
    "nothing is live any more": Case(
        (state("live_id = NULL"),), "missing", "no version is live; record SEQ says", LIVE
    ),
    "an older version is deleted": Case(
        (delete(VERSION, "number = 2"),),
        *("missing", "version 2 of the policy is gone; record SEQ", ("change", "house rules")),
    ),
    "another registry is put in force": Case(
        (state("registry_digest = settings_digest"),),
        *("altered", "` as its registry; record SEQ says that it became `sha256:", REGISTRY),
    ),
    "no registry is in force": Case(
        (state("registry_digest = ''"),),
        *("missing", "the state names nothing as its registry", REGISTRY),
    ),
    "other settings are put in force": Case(
        (state("settings_digest = registry_digest"),),
        *("altered", "` as its settings; record SEQ", SETTINGS),
    ),
    "no masking is in force": Case(
        (state("masking_digest = ''"),),
        *("missing", "the state names nothing as its masking", MASKING),
    ),
    "the document of the registry is deleted": Case(
        (delete("document", f"digest = {one('registry_digest', 'policystate', 'id = 1')}"),),
        *("missing", "is gone; record SEQ says that it was in force", REGISTRY),
    ),
    "a declaration is deleted": Case(
        (delete("tooldeclaration", f"digest = {DECLARED}"),),
        *("missing", "is gone, which the registry in force names", NO_RECORD),
    ),
}
FREEZES: Final = {
    "a freeze is deleted": Case(
        (delete("freeze", "value = 'wipe'"),),
        *("missing", "is gone; record SEQ says that it stands", FROZEN),
    ),
    "a freeze is lifted": Case(
        freeze_row(f"lifted_at = {LONG_AGO}"),
        *("altered", "is lifted since 2001-01-01T00:00:00Z; record SEQ says that it", FROZEN),
    ),
    "a freeze is given an end": Case(
        freeze_row(f"until = {LATER}"),
        *("altered", "has until `2099-01-01T00:00:00Z`; record SEQ says that it is none", FROZEN),
    ),
    "a freeze is over": Case(
        freeze_row(f"until = {LONG_AGO}, created_at = '2000-01-01 00:00:00+00:00'"),
        *("altered", "has until `2001-01-01T00:00:00Z`; record SEQ", FROZEN),
    ),
    "a freeze stops another tool": Case(
        freeze_row("value = 'wipf'"),
        *("altered", "has value `wipf`; record SEQ says that it is `wipe`", FROZEN),
    ),
    "a freeze stops an agent": Case(
        freeze_row("kind = 'agent'"), "altered", "has kind `agent`", FROZEN
    ),
    "a freeze says why in other words": Case(
        freeze_row("reason = 'x'"), "altered", "has reason `x`", FROZEN
    ),
    "a lifted freeze stands again": Case(
        (update("freeze", "lifted_at = NULL", "value = 'read'"),),
        *("altered", "is not lifted; record SEQ says that it was", ("freeze", "tool read")),
    ),
    "a freeze is put in": Case(
        (insert("freeze", **OWN_FREEZE),),
        *("inserted", "stands, and no record says that it was made", NO_RECORD),
    ),
}
HOLDS: Final = {
    "a hold is deleted": Case(
        (delete("legalhold", "name = 'case 7'"),), "missing", "the hold `case 7` (", HELD
    ),
    "a hold is lifted": Case(
        hold_row(f"lifted_at = {LONG_AGO}, lifted_by_label = 'x'"),
        *("altered", "is lifted since 2001", HELD),
    ),
    "a hold covers something else": Case(
        hold_row('filter = \'{"agent": "b"}\''), "altered", "has filter `", HELD
    ),
    "a lifted hold stands again": Case(
        (update("legalhold", "lifted_at = NULL, lifted_by_label = ''", "name = 'case 8'"),),
        *("altered", "is not lifted; record SEQ says that it was", ("hold", "case 8")),
    ),
    "a hold is put in": Case(
        (insert("legalhold", **OWN_HOLD),), "inserted", "stands, and no record", NO_RECORD
    ),
}
KEYS: Final = {
    "a key may do more": Case(
        key_row('scopes = \'["decide", "policy:write"]\''), "altered", "has scopes `", BOT
    ),
    "a key is bound to nothing": Case(
        key_row("pinned_context = '{}'"), "altered", "has pinned_context `{}`", BOT
    ),
    "a key is bound to another agent": Case(
        key_row('pinned_context = \'{"agent": "b"}\''), "altered", "has pinned_context", BOT
    ),
    "a key never ends": Case(
        key_row("expires_at = NULL"), "altered", "has expires_at none; record SEQ says", BOT
    ),
    "a key ends later": Case(
        key_row(f"expires_at = {LATER}"), "altered", "has expires_at `2099", BOT
    ),
    "a key is revoked": Case(
        key_row(f"revoked_at = {LONG_AGO}"), "altered", "is revoked since 2001", BOT
    ),
    "a revoked key is good again": Case(
        (update("apiclient", "revoked_at = NULL", "name = 'old'"),),
        *("altered", "is not revoked; record SEQ says that it was revoked", ("key", "old")),
    ),
    "a key is somebody else's": Case(
        key_row("owner_label = 'eve'"), "altered", "has owner `eve`", BOT
    ),
    "a key has another name": Case(key_row("name = 'x'"), "altered", "has name `x`", BOT),
    "a key is deleted": Case(
        (delete("apiclient", "name = 'bot'"),), "missing", "the key `bot` (", BOT
    ),
    "a key is put in": Case(
        (insert("apiclient", **OWN_KEY),),
        *("inserted", "the key `x` (evil) stands, and no record", NO_RECORD),
    ),
}
CASES: Final = POLICY | FREEZES | HOLDS | KEYS
