"""Which records a command is about: the options of it, read the same everywhere."""

import re
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Final

from django.core.management.base import CommandError

from toolpolicy.engine.faults import said
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.record_filters import RecordFilter, parse_words

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


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
    words = list(options["filter"])
    for name, option in (("from", "since"), ("to", "until")):
        if text := options[option]:
            words.append(f"{name}={text}T00:00:00Z" if _DAY.fullmatch(text) else f"{name}={text}")
    try:
        return parse_words(words)
    except InvalidInput as wrong:
        raise CommandError(said(wrong.faults, between="\n")) from None
