"""Which records a command is about: the options of it, read the same everywhere."""

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from django.core.management.base import CommandError

from toolpolicy.engine.faults import Fault
from toolpolicy.management.refusing import sentence
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.record_filters import RecordFilter, parse_words

_SPAN: Final = {"from": "since", "to": "until"}


def add_filter(parser: ArgumentParser) -> None:
    """Add the options that name records."""
    parser.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="only records where it is so, for example tool=mail_send; all that are given",
    )
    parser.add_argument("--since", metavar="TIME", help="a date, or a time with an offset")
    parser.add_argument("--until", metavar="TIME", help="the first moment that is left out")


def filter_of(options: Mapping[str, Any]) -> RecordFilter:
    """Return the filter that the options give. Raise CommandError with every fault."""
    names = {name: f"--{option}" for name, option in _SPAN.items() if options[option]}
    words = [*options["filter"], *(f"{name}={options[_SPAN[name]]}" for name in names)]
    try:
        return parse_words(words)
    except InvalidInput as wrong:
        raise CommandError("\n".join(_told(fault, names) for fault in wrong.faults)) from None


def _told(fault: Fault, names: Mapping[str, str]) -> str:
    """Return a fault in the words that were typed: `names` are those of the span's options."""
    message = fault.message
    for name, option in names.items():
        message = message.replace(f"`{name}`", f"`{option}`")
    member = fault.pointer.removeprefix("/")
    option = names.get(member, f"--filter {member}")
    return sentence(replace(fault, message=message), {member: option} if member else {})
