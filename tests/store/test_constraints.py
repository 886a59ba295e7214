"""Whatever writes to the tables, rows that mean nothing are refused by the database itself."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from toolpolicy.engine import words
from toolpolicy.models import (
    ApiClient,
    AuditState,
    Document,
    Freeze,
    Layer,
    LegalHold,
    MaskedValue,
    Masking,
    PolicyState,
    PolicyVersion,
    Record,
    RefusalCount,
    Rule,
    RuleUsage,
    SealKey,
    SeenContext,
    SessionTaint,
    SignInAttempt,
    Tool,
    ToolDeclaration,
    ToolFamily,
    choices,
)

MODELS = list(apps.get_app_config("toolpolicy").get_models())
NOW = timezone.now()
LATER = NOW + timedelta(days=1)
ORDERED = {"combining": "last_match", "default": "", "fail_safe": False}


def layer(**values):
    return Layer(**{"name": "x", "position": 0, **values})


def rule(**values):
    return Rule(**{"layer_id": 1, "rule_id": "x", "effect": "deny", "position": 0, **values})


def version(**values):
    return PolicyVersion(
        **{"number": 1, "document_id": "sha256:x", "published_by_label": "x", **values}
    )


def freeze(**values):
    return Freeze(
        **{
            "kind": "tool", "value": "x", "reason": "x", "created_by_label": "x",
            "created_at": NOW, **values,
        }
    )  # fmt: skip


def hold(**values):
    return LegalHold(**{"name": "x", "reason": "x", "created_by_label": "x", **values})


def client(**values):
    return ApiClient(
        **{"name": "x", "key_id": "x" * 8, "secret_hash": "0", "created_at": NOW, **values}
    )


def tool(**values):
    return Tool(**{"family_id": 1, "name": "x", "current_id": "sha256:x", **values})


def record(**values):
    return Record(
        **{
            "uid": "00000000-0000-0000-0000-000000000001", "kind": "change", "at": NOW,
            "writer_id": "w", "writer_n": 1, "leaf_hash": "0", **values,
        }
    )  # fmt: skip


def usage(**values):
    return RuleUsage(**{"hour": NOW, "outcome": "deny", **values})


def refusals(**values):
    return RefusalCount(**{"address": "x", "minute": NOW, "status": 401, **values})


def attempts(**values):
    return SignInAttempt(**{"address": "x", "minute": NOW, "account": "a", **values})


# Every named constraint: rows that are fine beside each other, and the last one, which is not.
BROKEN = {
    "layer_name_unique": [layer(), layer(position=1)],
    "layer_position_unique": [layer(), layer(name="y")],
    "layer_name_given": [layer(name="")],
    "layer_scope_known": [layer(scope="planet", target=["x"])],
    "layer_combining_known": [layer(combining="vote")],
    "layer_target_by_scope": [layer(scope="agent", target=None)],
    "layer_default_by_combining": [layer(default="")],
    "layer_fail_safe_is_strict": [layer(**{**ORDERED, "fail_safe": True})],
    "layer_times_in_order": [layer(valid_from=NOW, valid_until=NOW)],
    "layer_position_positive": [layer(position=-1)],
    "layer_version_positive": [layer(version=0)],
    "rule_id_unique": [layer(pk=1), rule(), rule(position=1)],
    "rule_position_unique": [layer(pk=1), rule(), rule(rule_id="y")],
    "rule_id_given": [layer(pk=1), rule(rule_id="")],
    "rule_effect_known": [layer(pk=1), rule(effect="forbid")],
    "rule_position_positive": [layer(pk=1), rule(position=-1)],
    "document_digest_form": [Document(digest="x", text="{}")],
    "policy_version_number_unique": [Document(digest="sha256:x"), version(), version()],
    "policy_version_number_positive": [Document(digest="sha256:x"), version(number=0)],
    "policy_state_one_row": [PolicyState(id=2)],
    "masking_one_row": [Masking(id=2)],
    "masking_version_positive": [Masking(id=1, version=0)],
    "masked_salt_given": [record(pk=1), MaskedValue(record_id=1, pointer="/x", salt="")],
    "auditstate_one_row": [AuditState(id=2)],
    "sealkey_position_unique": [
        *(SealKey(key_id=name, position=1, public=name) for name in ("x", "y")),
    ],
    "freeze_kind_known": [freeze(kind="planet")],
    "freeze_value_given": [freeze(value="")],
    "freeze_reason_given": [freeze(reason="")],
    "freeze_until_later": [freeze(until=NOW)],
    "legalhold_name_given": [hold(name="")],
    "legalhold_reason_given": [hold(reason="")],
    "legalhold_lifted_by_somebody": [hold(lifted_at=NOW)],
    "family_name_unique": [ToolFamily(name="x"), ToolFamily(name="x")],
    "family_name_given": [ToolFamily(name="")],
    "family_kind_known": [ToolFamily(name="x", kind="planet")],
    "family_version_positive": [ToolFamily(name="x", version=0)],
    "declaration_digest_form": [ToolDeclaration(digest="x", text="{}")],
    "tool_name_unique": [
        ToolFamily(pk=1, name="x"), ToolDeclaration(digest="sha256:x"), tool(), tool()
    ],
    "tool_name_given": [
        ToolFamily(pk=1, name="x"), ToolDeclaration(digest="sha256:x"), tool(name="")
    ],
    "tool_state_known": [
        ToolFamily(pk=1, name="x"), ToolDeclaration(digest="sha256:x"), tool(state="lost")
    ],
    "tool_version_positive": [
        ToolFamily(pk=1, name="x"), ToolDeclaration(digest="sha256:x"), tool(version=0)
    ],
    "client_key_id_unique": [client(), client()],
    "client_name_given": [client(name="")],
    "client_expires_later": [client(expires_at=NOW)],
    "seen_context_unique": [
        SeenContext(key="agent", value="a"),
        SeenContext(key="agent", value="a"),
    ],
    "taint_session_unique": [
        client(pk=1), SessionTaint(client_id=1, session="x"), SessionTaint(client_id=1, session="x")
    ],
    "taint_session_given": [client(pk=1), SessionTaint(client_id=1, session="")],
    "refusal_minute_unique": [refusals(), refusals()],
    "refusal_count_positive": [refusals(count=0)],
    "attempt_minute_unique": [attempts(), attempts()],
    "attempt_count_positive": [attempts(count=0)],
    "record_uid_unique": [record(), record(writer_n=2)],
    "record_writer_unique": [record(), record(uid="00000000-0000-0000-0000-000000000002")],
    "record_kind_known": [record(kind="gossip")],
    "record_writer_n_positive": [record(writer_n=0)],
    "usage_hour_unique": [usage(), usage()],
    "usage_count_positive": [usage(count=0)],
}  # fmt: skip


def constraints():
    return {
        constraint.name: constraint for model in MODELS for constraint in model._meta.constraints
    }


def copy_of(row):
    """Return the row anew: the table above is shared between tests."""
    values = {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields}
    return type(row)(**values)


def test_every_constraint_has_a_row_that_breaks_it():
    assert set(BROKEN) == set(constraints())


@pytest.mark.django_db
@pytest.mark.parametrize("name", BROKEN)
def test_the_database_refuses_what_breaks_a_constraint(name):
    *fine, broken = map(copy_of, BROKEN[name])
    for row in fine:
        row.save()
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        broken.save()
    told = str(caught.value)
    assert any(text in told for text in [name, *other_names(name, broken)]), told


def other_names(name, row):
    """Return what a database may say in place of a constraint's name."""
    fields = getattr(constraints()[name], "fields", ())
    columns = [row._meta.get_field(field).column for field in fields]
    # A positive column has a check of its own, and either may be found first.
    own = [name.split("_")[-2]] if name.endswith("_positive") else []
    if connection.vendor == "sqlite":
        # It names the columns of a unique constraint; replacing a row is refused earlier.
        return [*columns, "is written once", *(f"CHECK constraint failed: {one}" for one in own)]
    return [f"_{one}_check" for one in own]


@pytest.mark.django_db
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_constraint_is_told_in_plain_words(name):
    *fine, broken = map(copy_of, BROKEN[name])
    for row in fine:
        row.save()
    message = constraints()[name].violation_error_message
    with pytest.raises(ValidationError) as caught:
        constraints()[name].validate(type(broken), broken)
    assert caught.value.messages == [message]
    assert (message.strip("."), message[0].islower()) == (message, True)


@pytest.mark.django_db
def test_what_is_right_can_be_stored():
    layer(scope="agent", target=[], valid_from=NOW, valid_until=LATER).save()
    layer(name="y", **ORDERED).save()
    client(expires_at=LATER).save()
    freeze(until=LATER).save()
    assert (Layer.objects.count(), ApiClient.objects.count(), Freeze.objects.count()) == (2, 1, 1)


@pytest.mark.parametrize("name", ["Scope", "Combining", "Default", "Effect", "Mode"])
def test_the_words_of_the_language_are_the_engines(name):
    ours, engines = getattr(choices, name), getattr(words, name)
    assert list(ours.values) == [str(word) for word in engines]


@pytest.mark.parametrize(
    ("name", "good"),
    [("a-Z_0.9/x:y", True), ("x" * 128, True), ("", False), ("x" * 129, False), ("a b", False),
     ("é", False), ("a\n", False), ("\uff41", False)],
)  # fmt: skip
def test_a_tool_is_named_in_plain_letters(name, good):
    field = Tool._meta.get_field("name")
    try:
        field.run_validators(name)
        found = bool(name)
    except ValidationError:
        found = False
    assert found is good


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_models_name_themselves_without_a_query_and_keep_their_lists_as_tuples(model):
    row = model(**{f.attname: 1 for f in model._meta.concrete_fields if f.is_relation})
    assert str(row) is not None  # no database mark: a query would fail here
    for option in ("ordering", "constraints", "indexes", "permissions", "default_permissions"):
        assert isinstance(model._meta.original_attrs.get(option, ()), tuple), option
    times = [f for f in model._meta.concrete_fields if isinstance(f, models.DateTimeField)]
    assert not [f for f in times if f.auto_now or f.auto_now_add]
