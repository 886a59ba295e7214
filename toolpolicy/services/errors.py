"""What a service says when it does not do what was asked. Faces translate these, once each."""

from collections.abc import Iterable, Mapping

from django.core.exceptions import ValidationError

from toolpolicy.engine.faults import Fault, FaultList, join, said
from toolpolicy.engine.messages import CAUSES
from toolpolicy.engine.reading import Reader
from toolpolicy.engine.words import ReasonCode


class ServiceError(Exception):
    """A use case refused: a stable `code` and its faults, with pointers into what was sent."""

    def __init__(self, code: str, faults: Iterable[Fault]) -> None:
        self.code = code
        self.faults = FaultList(faults).told()
        super().__init__(said(self.faults))


class InvalidInput(ServiceError):
    """What was sent is wrong."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        super().__init__("invalid", faults)


class NotFound(ServiceError):
    """What was named does not exist. `label` says in words what was looked for."""

    def __init__(self, label: str, code: str = "not_found") -> None:
        super().__init__(code, [Fault("", f"there is no {label}", code)])


class Lost(NotFound):
    """What the database itself names is not kept there: no caller asked for it."""

    def __init__(self, label: str) -> None:
        super().__init__(label, "altered")


class Altered(ServiceError):
    """What is stored is not what was published: somebody changed the database."""

    def __init__(self, message: str) -> None:
        super().__init__("altered", [Fault("", message, "altered")])


class Stale(ServiceError):
    """Somebody else changed it since the editor read it."""

    def __init__(self, expected: int, found: int) -> None:
        message = f"it was changed meanwhile: you saw version {expected}, now it is version {found}"
        super().__init__("stale", [Fault("", message, "stale")])
        self.expected = expected
        self.found = found


class Refused(ServiceError):
    """The actor may not do this, or it cannot be done now; `at` points at what was asked for."""

    def __init__(self, code: str, message: str, at: str = "") -> None:
        super().__init__(code, [Fault(at, message, code)])


class KeyRefused(ServiceError):
    """An API key is not accepted: `key_invalid`, `key_expired` or `key_revoked`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, [Fault("", message, code)])


def key_revoked() -> KeyRefused:
    """Return the refusal of a key that was revoked."""
    return KeyRefused("key_revoked", "the API key was revoked")


def unknown_members(values: Mapping[str, object], known: Iterable[str]) -> list[Fault]:
    """Return a fault for each member of `values` that is not known, with the nearest known one."""
    reader = Reader()
    reader.members(dict(values), "", tuple(known))
    return list(reader.faults)


def model_faults(error: ValidationError, wire_names: Mapping[str, str]) -> list[Fault]:
    """Return what a model's `full_clean` found, as faults; `wire_names` maps fields to members."""
    return [
        Fault(
            join("", wire_names.get(field, field)) if field != "__all__" else "",
            _in_our_style(message),
        )
        for field, messages in error.message_dict.items()
        for message in messages
    ]


def faults_at(pointer: str, error: ValidationError) -> list[Fault]:
    """Return what Django's validators found of one value, as faults at this place."""
    return [Fault(pointer, _in_our_style(message)) for message in error.messages]


def _in_our_style(message: str) -> str:
    """Return Django's sentence as ours read: lower-case, no full stop."""
    return message[:1].lower() + message[1:].rstrip(".")


class Unavailable(ServiceError):
    """No answer can be given: `code` is a reason code of the errors (SPEC §9). Never an allow."""

    def __init__(self, code: ReasonCode) -> None:
        super().__init__(str(code), [Fault("", CAUSES[code], str(code))])
