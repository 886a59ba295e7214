"""Which names of members say that their value is a secret: whole words, however they are written.

A name is cut into words at every change of case, digit or other character: `userPassword`,
`X-Api-Key`, `APIKey2`. A pattern without `*` and `?` is written the same way and is met by any run
of words that spells it, joined or not; one with them is a glob over the whole name.

    >>> met = SecretNames(("api_key", "token", "*_pin")).met
    >>> [met(name) for name in ("X-Api-Key", "apikey", "accessToken", "tokenizer", "card_pin")]
    ['api_key', 'api_key', 'token', None, '*_pin']
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from toolpolicy.engine.globs import any_glob

DEFAULT_SECRETS: Final = (
    *("password", "passwords", "passwd", "pwd", "passphrase", "passcode"),
    *("secret", "secrets", "client_secret", "token", "access_token", "refresh_token", "auth_token"),
    *("id_token", "api_token", "session_token", "bearer_token", "bearer", "jwt"),
    *("authorization", "basic_auth", "credential", "credentials", "creds"),
    *("api_key", "access_key", "secret_key", "private_key", "encryption_key", "signing_key"),
    *("ssh_key", "account_key", "shared_key", "connection_string"),
    *("cookie", "cookies", "session_cookie", "otp", "totp", "pin_code"),
    *("card_number", "cvv", "cvc"),
)
"""What is masked where nobody said otherwise."""

LONGEST_RUN: Final = 4
"""A pattern has at most this many words."""
_REMEMBERED: Final = 4_096
_LONGEST_REMEMBERED: Final = 64
_TURNS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")


def words(name: str) -> list[str]:
    """Return the words of a name, folded; what looks like ASCII letters counts as them."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    return _WORD.findall(_TURNS.sub(" ", name).casefold())


def is_glob(pattern: str) -> bool:
    """Tell whether a pattern is compared with the whole name."""
    return "*" in pattern or "?" in pattern


class SecretNames:
    """Patterns made ready; `met` costs one look-up for a name that was seen before."""

    def __init__(self, patterns: Iterable[str]) -> None:
        held = tuple(dict.fromkeys(patterns))
        self._globs = tuple(pattern for pattern in held if is_glob(pattern))
        self._runs = {"".join(words(one)): one for one in reversed(held) if not is_glob(one)}
        self._seen: dict[str, str | None] = {}

    def met(self, name: str) -> str | None:
        """Return the first pattern that a member's name meets; None for none."""
        if name in self._seen:
            return self._seen[name]
        found = self._met(name)
        if len(name) <= _LONGEST_REMEMBERED:
            if len(self._seen) >= _REMEMBERED:
                self._seen = {}
            self._seen[name] = found
        return found

    def _met(self, name: str) -> str | None:
        said = words(name)
        for start in range(len(said)):
            run = ""
            for word in said[start : start + LONGEST_RUN]:
                run += word
                if run in self._runs:
                    return self._runs[run]
        return next((glob for glob in self._globs if any_glob((glob,), name)), None)
