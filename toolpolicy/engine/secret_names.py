"""Which names of members say that their value is a secret: whole words, however they are written.

A name is cut into words at every change of case, digit or other character: `userPassword`,
`X-Api-Key`, `APIKey2`; and once more without regard to case, for `pAsSwOrD`. A pattern without `*`
and `?` is written the same way and is met by any run of words that spells it, joined or not, and by
all of them; with `=` before it, by all of them alone. One with `*` or `?` is a glob over the whole
name.

    >>> met = SecretNames(("api_key", "token", "*_pin", "=pw")).met
    >>> [met(name) for name in ("X-Api-Key", "aPiKeY", "accessToken", "tokenizer", "card_pin")]
    ['api_key', 'api_key', 'token', None, '*_pin']
    >>> [met(name) for name in ("PW", "p-w", "pw_hash")]
    ['=pw', '=pw', None]
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from toolpolicy.engine.globs import any_glob

DEFAULT_SECRETS: Final = (
    *("password", "passwords", "passwd", "pwd", "passphrase", "passcode"),
    *("passwort", "kennwort"),
    *("secret", "secrets", "client_secret", "token", "access_token", "refresh_token", "auth_token"),
    *("id_token", "api_token", "session_token", "bearer_token", "bearer", "jwt"),
    *("authorization", "basic_auth", "credential", "credentials", "creds"),
    *("api_key", "access_key", "secret_key", "private_key", "encryption_key", "signing_key"),
    *("ssh_key", "account_key", "shared_key", "connection_string", "dsn", "kubeconfig"),
    *("cookie", "cookies", "session_cookie", "otp", "totp", "pin_code"),
    *("card_number", "cards_number", "card_expiry", "cards_expiry", "cvv", "cvc", "ssn"),
    # Written as one word with another before it: PGPASSWORD, userpwd, csrftoken.
    *("*password", "*passwd", "*pwd", "*passphrase", "*secret", "*token", "*apikey"),
    *("*passwort", "*kennwort"),
    *("ssh_pass", "db_pass", "user_pass", "admin_pass", "root_pass", "smtp_pass"),
    # Parts of too many other names: boarding_pass, pin_board.
    *("=pass", "=pw", "=pin"),
)
"""What is masked where nobody said otherwise."""

WHOLE: Final = "="
"""Begins a pattern that is met by whole names alone."""
LONGEST_RUN: Final = 4
"""A pattern has at most this many words."""
_REMEMBERED: Final = 4_096
_LONGEST_REMEMBERED: Final = 64
_TURNS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")


def words(name: str) -> list[str]:
    """Return the words of a name, folded; what looks like ASCII letters counts as them."""
    return _WORD.findall(_TURNS.sub(" ", _plain(name)).casefold())


def _plain(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def is_glob(pattern: str) -> bool:
    """Tell whether a pattern is compared with the whole name."""
    return "*" in pattern or "?" in pattern


class SecretNames:
    """Patterns made ready; `met` costs one look-up for a name that was seen before."""

    def __init__(self, patterns: Iterable[str]) -> None:
        held = tuple(dict.fromkeys(patterns))
        self._globs = tuple(pattern for pattern in held if is_glob(pattern))
        spelled = {one: "".join(words(one)) for one in reversed(held) if not is_glob(one)}
        self._whole = {text: one for one, text in spelled.items() if one.startswith(WHOLE)}
        self._runs = {text: one for one, text in spelled.items() if not one.startswith(WHOLE)}
        self._seen: dict[str, str | None] = {}
        self._joined = lru_cache(_REMEMBERED)(
            lambda outer, name: self._run_of([*words(outer), *words(name)])
        )

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

    def inside(self, outer: str, name: str) -> str | None:
        """Return the first pattern that an object's name and its member's spell together.

        `number` in `card` is met as `card_number`; names longer than 64 characters are not.
        """
        longest = max(len(outer), len(name))
        return self._joined(outer, name) if longest <= _LONGEST_REMEMBERED else None

    def _met(self, name: str) -> str | None:
        plain = _plain(name)
        caseless = _WORD.findall(plain.casefold())
        whole = "".join(caseless)
        found = self._run_of(words(plain)) or self._run_of(caseless)
        found = found or self._runs.get(whole) or self._whole.get(whole)
        return found or next((glob for glob in self._globs if any_glob((glob,), plain)), None)

    def _run_of(self, said: list[str]) -> str | None:
        for start in range(len(said)):
            run = ""
            for word in said[start : start + LONGEST_RUN]:
                run += word
                if run in self._runs:
                    return self._runs[run]
        return None
