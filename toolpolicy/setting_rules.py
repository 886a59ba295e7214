"""What a setting may be: how its text is read, and which values are allowed. No Django here."""

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class SettingRule(Protocol):
    """What one setting may be."""

    @property
    def allowed(self) -> str:
        """Return the allowed values in words, to follow "it may be"."""

    def parse(self, text: str) -> Any:
        """Return the value an environment variable's text stands for; ValueError if none."""

    def accepts(self, value: object) -> bool:
        """Tell whether a value is allowed."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds, both included."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def parse(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise ValueError(text)
        return int(text)

    def accepts(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Choice:
    """One word of an enumeration."""

    words: type[StrEnum]

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(f"`{word}`" for word in self.words)

    def parse(self, text: str) -> StrEnum:
        return self.words(text)

    def accepts(self, value: object) -> bool:
        return isinstance(value, self.words)


@dataclass(frozen=True, slots=True)
class KeyWord:
    """A word that stands inside an API key, between underscores."""

    @property
    def allowed(self) -> str:
        return "1 to 16 lower-case letters and digits"

    def parse(self, text: str) -> str:
        return text

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(r"[a-z0-9]{1,16}", value) is not None


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    @property
    def allowed(self) -> str:
        return "1 (on) or 0 (off)"

    def parse(self, text: str) -> bool:
        if text.lower() not in TRUE_WORDS | FALSE_WORDS:
            raise ValueError(text)
        return text.lower() in TRUE_WORDS

    def accepts(self, value: object) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class FilePath:
    """The path of a file; empty: none."""

    @property
    def allowed(self) -> str:
        return "the absolute path of a file"

    def parse(self, text: str) -> str:
        return text

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and (not value or Path(value).is_absolute())


@dataclass(frozen=True, slots=True)
class HttpsUrl:
    """The address of a server over HTTPS, without a user; empty: none."""

    @property
    def allowed(self) -> str:
        return "an address such as `https://host/path`, without user or password"

    def parse(self, text: str) -> str:
        return text

    def accepts(self, value: object) -> bool:
        if value == "":
            return True
        try:
            parts = urlsplit(value) if isinstance(value, str) else None
            return (
                parts is not None
                and (parts.scheme, parts.username, parts.fragment) == ("https", None, "")
                and bool(parts.hostname)
                and parts.port != 0
            )
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Networks:
    """Networks of addresses."""

    @property
    def allowed(self) -> str:
        return "networks such as `10.1.0.0/16, 2001:db8::/32`"

    def parse(self, text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(","))
        if not self.accepts(words):
            raise ValueError(text)
        return words

    def accepts(self, value: object) -> bool:
        try:
            return isinstance(value, tuple) and all(map(ipaddress.ip_network, value))
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class DaysByKind:
    """Days for some kinds of records; which kinds there are, `toolpolicy.checks` knows."""

    high: int

    @property
    def allowed(self) -> str:
        return f"kinds with 1 to {self.high} days, such as `listing=200, decision=800`"

    def parse(self, text: str) -> tuple[tuple[str, int], ...]:
        words = [word.partition("=") for word in text.split(",")]
        days = Whole(1, self.high)
        pairs = tuple((kind.strip(), days.parse(number.strip())) for kind, _, number in words)
        if not self.accepts(pairs):
            raise ValueError(text)
        return pairs

    def accepts(self, value: object) -> bool:
        if not isinstance(value, tuple):
            return False
        days = Whole(1, self.high)
        pairs = [pair for pair in value if isinstance(pair, tuple) and len(pair) == 2]  # noqa: PLR2004
        good = [
            kind
            for kind, number in pairs
            if isinstance(kind, str)
            and re.fullmatch(r"[a-z_]{1,16}", kind)
            and days.accepts(number)
        ]
        return len(value) == len(good) == len(set(good))
