"""What counts now is rows: a full verification holds them against what sealed records say.

Whoever has rights on the database, but not the key, changes rows past the product, triggers or not.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from tests.audit import rows
from tests.audit.logs import verdict
from tests.audit.rows import build, do, done, freeze, key, number, state
from tests.audit.tampers import mistaken, undone
from tests.factories import SYSTEM
from tests.live import make_client, make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.audit import sealer
from toolpolicy.audit.verification import standing
from toolpolicy.models import ApiClient, Freeze, Leaf, LegalHold, PolicyState, Record, RecordBody
from toolpolicy.services import clients, demo, freezes, holds, masking, policies

pytestmark = pytest.mark.django_db
SOON = timedelta(hours=1)


def found() -> list[str]:
    return [f"{one.kind} {one.seq}: {one.message}" for one in verdict().findings]


def differing() -> list[str]:
    """Return what rows say otherwise; that texts are gone is told elsewhere."""
    return [one.message for one in standing._differences()]


def test_what_was_changed_past_the_product_is_named_with_the_record_that_says_otherwise():
    build()
    assert found() == []
    assert mistaken(_told()) == []
    assert found() == []


def _told() -> Iterator[tuple[str, Any, Any]]:
    for name, case in rows.CASES.items():
        with done(*case.does):
            told = verdict().findings
        seq = number(case.by)
        words = case.words.replace("SEQ", str(seq))
        got = [(str(one.kind), one.seq, words in one.message and words) for one in told]
        yield f"{name} ({told})", got, [(case.kind, seq, words)]


def test_a_document_of_the_past_that_is_gone_is_named_with_the_record_that_names_it():
    build()
    seq, digest = number(rows.REGISTRY), PolicyState.objects.get().registry_digest
    imported(named("read", "wipe", "mail"))
    with done(rows.delete("document", f"digest = '{digest}'")):
        words = f"the document `{digest}` is gone; record {seq} says that it was in force"
        assert found() == [f"missing {seq}: {words}"]


def test_a_second_row_of_a_key_is_found_where_nothing_keeps_it_out():
    build()
    with undone() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        copy = rows.one("*", "apiclient", "name = 'bot'").strip("()")
        do("ALTER TABLE toolpolicy_apiclient RENAME TO was_apiclient")
        do(f"CREATE TABLE toolpolicy_apiclient AS {copy}".replace("FROM toolpolicy_", "FROM was_"))
        do(f"INSERT INTO toolpolicy_apiclient {copy}")
        told = [one.split(" (")[0] + one.split(")")[1] for one in found()]
    assert told == ["duplicated None: the key `bot` is there twice"]


def test_a_quick_verification_does_not_look_at_rows():
    build()
    do(state("live_id = NULL"))
    assert verdict(full=False).good


# --- what the product does is no finding ----------------------------------------------------------


def begin_with_the_demo() -> None:
    call_command("setup", verbosity=0)
    demo.load(actor=SYSTEM)
    freeze("read")


def roll_back() -> None:
    build()
    policies.roll_back(actor=SYSTEM, number=1)


def roll_back_twice() -> None:
    build()
    for version in (2, 3):
        policies.roll_back(actor=SYSTEM, number=version)
    policies.publish(actor=SYSTEM)


def import_more() -> None:
    build()
    imported(named("read", "wipe", "mail"))
    imported(named("read"))


def change_masking() -> None:
    build()
    masking.change(actor=SYSTEM, version=2, rules={"keys": []})


def make_rows_without_records() -> None:
    """Do so in a log that tells of nothing of their sort."""
    make_live([strict({"effect": "deny", "match": {"name": "drop_*"}})])
    make_client()
    Freeze.objects.create(kind="tool", value="x", reason="x", created_by_label="x")


def use_a_key() -> None:
    build()
    ApiClient.objects.update(last_used_at=timezone.now())


def make_what_ends() -> None:
    build()
    freeze("mail", timezone.now() + SOON)
    key("short", expires_at=timezone.now() + SOON)
    key("endless", expires_at=None)


def freeze_odd_names() -> None:
    for name in ("\u00e4 \u202e`'\"\\", "x" * 199, "{}"):
        freezes.lift(actor=SYSTEM, freeze=freeze(name).pk)
        freeze(name)
        key(name)


GOOD: tuple[Callable[[], None], ...] = (
    *(build, begin_with_the_demo, roll_back, roll_back_twice, import_more, change_masking),
    *(make_rows_without_records, use_a_key, make_what_ends, freeze_odd_names),
)


@pytest.mark.parametrize("does", GOOD)
def test_what_the_product_does_stays_good(does):
    assert found() == []
    does()
    assert found() == []
    sealer.seal_all()
    assert found() == []


def test_what_ran_out_by_its_time_stays_good_and_may_not_be_made_longer(monkeypatch):
    make_what_ends()
    later = timezone.now() + 2 * SOON
    monkeypatch.setattr(standing, "timezone", SimpleNamespace(now=lambda: later))
    assert found() == []
    do(rows.update("freeze", f"until = {rows.LATER}", "value = 'mail'"))
    do(rows.update("apiclient", "expires_at = NULL", "name = 'short'"))
    told = verdict().findings
    assert [str(one.kind) for one in told] == ["altered", "altered"]
    assert "has until `2099-01-01T00:00:00Z`; a record that waits for its seal" in told[0].message
    assert "the key `short`" in told[1].message


def test_a_row_that_is_over_may_go():
    build()
    over = "lifted_at IS NOT NULL"
    with done(rows.delete("freeze", over), rows.delete("legalhold", over)):
        assert found() == []


# --- texts that are gone --------------------------------------------------------------------------


def forget(*kinds: str, **of: Any) -> None:
    RecordBody.objects.filter(record__in=Record.objects.filter(kind__in=kinds, **of)).delete()


def test_texts_that_are_gone_prove_nothing():
    build()
    forget("freeze", "hold", "key", "change", "import")
    assert differing() == []
    cases = rows.FREEZES | rows.HOLDS | rows.KEYS
    digests = "registry_digest = settings_digest, settings_digest = '', masking_digest = ''"
    with done(*(step for case in cases.values() for step in case.does), state(digests)):
        assert differing() == []


def test_the_number_of_the_live_version_is_proven_without_a_text():
    build()
    forget("change")
    case = rows.POLICY["an older version is made live"]
    do(*case.does)
    assert differing() == [case.words.replace("SEQ", str(number(case.by)))]


def test_what_ended_something_may_be_told_by_no_text_any_more():
    build()
    freezes.lift(actor=SYSTEM, freeze=Freeze.objects.get(value="wipe").pk)
    clients.revoke(actor=SYSTEM, client=ApiClient.objects.get(name="bot").pk)
    newest = [Record.objects.filter(kind=kind).latest("pk").pk for kind in ("freeze", "key")]
    RecordBody.objects.filter(pk__in=newest).delete()
    assert differing() == []


def test_a_text_of_something_else_that_is_gone_hides_nothing():
    build()
    forget("key", object_label="old")
    do(*rows.KEYS["a key is bound to nothing"].does, rows.insert("apiclient", **rows.OWN_KEY))
    assert [message[:13] for message in differing()] == ["the key `x` (", "the key `bot`"]


@pytest.mark.parametrize("text", ["[1", "[]", '{"key": 1, "freeze": {}, "policy": []}'])
def test_an_altered_text_ends_no_verification(text):
    build()
    with done(rows.update("recordbody", f"text = '{text}'", "record_id > 0")):
        assert differing() == []
        assert not verdict().good


def test_a_value_that_no_column_has_is_found():
    build()
    with done(*rows.key_row("scopes = '\"x\"'")):
        told = found()
        words = "says that it is `['decide']`"
        assert ["has scopes `x`" in one and words in one for one in told] == [True]


# --- what happens meanwhile -----------------------------------------------------------------------


def act() -> None:
    freezes.lift(actor=SYSTEM, freeze=Freeze.objects.get(value="wipe").pk)
    freeze("mail")
    key("new")
    holds.lift(actor=SYSTEM, hold=LegalHold.objects.get(name="case 7").pk)
    clients.revoke(actor=SYSTEM, client=ApiClient.objects.get(name="bot").pk)
    policies.roll_back(actor=SYSTEM, number=1)
    imported(named("read"))


@pytest.mark.parametrize("module", ["live", "standing"])
def test_what_is_done_after_rows_were_read_is_no_finding(monkeypatch, module):
    build()
    of = getattr(standing, module) if module == "live" else standing
    read, acted = of.told, list[str]()

    def told_later(*given: Any, **narrowed: Any) -> Any:
        if not acted:
            acted.append("once")
            act()
        return read(*given, **narrowed)

    monkeypatch.setattr(of, "told", told_later)
    assert found() == []
    assert acted == ["once"]


def test_a_difference_that_is_gone_at_the_second_look_is_not_told(monkeypatch):
    build()
    look, looks = standing._differences, []

    def looked() -> Any:
        looks.append(list(look()))
        do(*rows.key_row("owner_label = ''"))
        return looks[-1]

    monkeypatch.setattr(standing, "_differences", looked)
    do(*rows.key_row("owner_label = 'eve'"))
    assert found() == []
    assert [len(one) for one in looks] == [1, 0]


def test_two_changes_that_were_sealed_the_other_way_round_are_no_finding():
    build()
    imported(named("read"))
    imported(named("read", "mail"))
    sealer.seal_all()
    pairs = Leaf.objects.filter(record__kind="import").order_by("-seq").values_list
    (last, second), (early, first) = pairs("seq", "record_id")[:2]
    changed = [(last, -1), (early, second), (last, first)]
    with done(*(rows.update("leaf", f"record_id = {row}", f"seq = {seq}") for seq, row in changed)):
        assert differing() == []
