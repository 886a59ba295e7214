"""Members of bodies that address something: read here, before a service sees the rest."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from rest_framework.request import Request

from toolpolicy.api.problems import ProblemError, problem
from toolpolicy.engine.faults import Fault, Faults, did_you_mean, shown
from toolpolicy.engine.reading import Reader
from toolpolicy.models.choices import Scope
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.evidence.periods import Period, read_moment, read_period

MOST_DIGITS: Final = 9
DRY_RUN: Final = "dry_run"


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the members but those of these names."""
    return {name: value for name, value in values.items() if name not in names}


def read_dry_run(reader: Reader, members: Mapping[str, Any]) -> bool:
    """Read the optional `dry_run` of a body."""
    return DRY_RUN in members and reader.boolean(members[DRY_RUN], f"/{DRY_RUN}") is True


def taken_integer(values: Mapping[str, Any], name: str) -> int:
    """Return one member that is an integer. Raises `Faults`."""
    reader = Reader()
    if name not in values:
        reader.fault("", f"`{name}` is needed", "missing")
    number = reader.integer(values.get(name, 0), f"/{name}")
    return reader.finish(number or 0)


def same_identity(values: Mapping[str, Any], **identity: int) -> dict[str, Any]:
    """Return the members without those that name the thing itself, which stay as they are.

    So that what was read can be sent back whole. Raises `Faults` where one differs.
    """
    faults = [
        Fault(f"/{name}", f"{shown(values[name])}: this never changes, it is {known}", "fixed")
        for name, known in identity.items()
        if name in values and values[name] != known
    ]
    if faults:
        raise Faults(faults)
    return without(values, *identity)


def whole(values: Mapping[str, Any], members: Sequence[str]) -> Mapping[str, Any]:
    """Return the members of a replacement. Raises `Faults` unless every one of `members` is there.

    What is left out of a replacement would silently fall back to something.
    """
    missing = [name for name in members if name not in values]
    if missing:
        raise Faults(Fault("", f"a replacement needs `{name}` too", "missing") for name in missing)
    return values


def layer_order(values: Mapping[str, Any]) -> tuple[Scope, list[int]]:
    """Read `{scope, order, version?}`. Raises `Faults`."""
    reader = Reader()
    order = _order(reader, reader.members(values, "", ("scope", "order", "version")))
    scope = reader.word(values.get("scope"), "/scope", Scope)
    return reader.finish((scope or Scope.CONFIG, order))


def rule_order(values: Mapping[str, Any]) -> list[int]:
    """Read `{order, version?}`. Raises `Faults`."""
    reader = Reader()
    return reader.finish(_order(reader, reader.members(values, "", ("order", "version"))))


def _order(reader: Reader, members: Mapping[str, Any]) -> list[int]:
    if "order" not in members:
        reader.fault("", "an `order` is needed: the key of each one", "missing")
    return list(reader.items(members.get("order", []), "/order", reader.integer))


Word = TypeVar("Word", bound=StrEnum)


def query_word(request: Request, name: str, words: type[Word], default: Word) -> Word:
    """Return one of `words` from the query, or what it is by default. Raise a problem."""
    text = request.query_params.get(name, default)
    if text in words.__members__.values():
        return words(text)
    hint = did_you_mean(text, [str(word) for word in words])
    raise _bad_query(name, f"{shown(text)} is not known{hint}")


def query_integer(request: Request, name: str) -> int:
    """Return a whole number from the query. Raise a problem where there is none."""
    text = request.query_params.get(name, "")
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    raise _bad_query(name, f"{shown(text)} is no whole number")


def query_period(request: Request, now: datetime) -> Period:
    """Return the period between `from` and `to` of the query. Raise a problem."""
    since, until = (request.query_params.get(name, "") for name in ("from", "to"))
    try:
        return read_period(since, until, now=now)
    except InvalidInput as refused:
        fault = refused.faults[0]
        raise _bad_query(fault.pointer.removeprefix("/"), fault.message) from None


def query_moment(request: Request, name: str, now: datetime) -> datetime:
    """Return a point in time of the query that has come. Raise a problem."""
    try:
        return read_moment(request.query_params.get(name, ""), now=now)
    except InvalidInput as refused:
        raise _bad_query(name, refused.faults[0].message) from None


def query_switch(request: Request, name: str) -> bool:
    """Return `true` or `false` from the query; false where it is not there. Raise a problem."""
    text = request.query_params.get(name, "false")
    if text in ("true", "false"):
        return text == "true"
    raise _bad_query(name, f"{shown(text)} is neither `true` nor `false`")


def _bad_query(name: str, message: str) -> ProblemError:
    fault = Fault(name, message, "bad_query")
    return problem("bad_query", "one fault, see `errors`", faults=(fault,), place="parameter")
