"""API keys as text: `tp_<environment>_<id>_<secret>_<checksum>`. Pure.

The prefix and the checksum let scanners of secrets find a leaked key, and a mistyped one is refused
without a query.
"""

import hashlib
import re
import secrets
import string
from dataclasses import dataclass
from typing import Final

_ALPHABET: Final = string.ascii_letters + string.digits
_ID_ALPHABET: Final = string.ascii_lowercase + string.digits
_ID_LENGTH: Final = 8
# 40 of 62 characters are 238 random bits; with those of the id, of 512, none is likelier than
# another.
_SECRET_LENGTH: Final = 40
_CHECKSUM_LENGTH: Final = 6
ENTROPY: Final = 64
_KEY: Final = re.compile(
    rf"(tp_[a-z0-9]{{1,16}}_([a-z0-9]{{{_ID_LENGTH}}})_([A-Za-z0-9]{{{_SECRET_LENGTH}}}))"
    rf"_([0-9a-f]{{{_CHECKSUM_LENGTH}}})"
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key in its parts. The secret never leaves the caller's hands but as its hash."""

    id: str
    secret: str
    text: str

    @property
    def secret_hash(self) -> str:
        """The hex SHA-256 of the secret. It is random, so a slow hash would protect nothing."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def __repr__(self) -> str:
        return f"Key({self.id})"  # a traceback or a log line must not show the secret


def new_key(environment: str, entropy: bytes | None = None) -> Key:
    """Return a fresh random key; `environment` is 1 to 16 lower-case letters and digits.

    With `entropy`, 64 secret bytes, the key is made of it: the same bytes make the same key.
    """
    left = int.from_bytes(entropy or secrets.token_bytes(ENTROPY))
    key_id, left = _drawn(left, _ID_ALPHABET, _ID_LENGTH)
    secret, _ = _drawn(left, _ALPHABET, _SECRET_LENGTH)
    body = f"tp_{environment}_{key_id}_{secret}"
    return Key(key_id, secret, f"{body}_{_checksum(body)}")


def _drawn(left: int, alphabet: str, length: int) -> tuple[str, int]:
    """Return characters drawn from a large random number, and what is left of it."""
    found = []
    for _ in range(length):
        left, place = divmod(left, len(alphabet))
        found.append(alphabet[place])
    return "".join(found), left


def read_key(text: str) -> Key | None:
    """Return the parts of a key, None for a text that is none or was mistyped."""
    match = _KEY.fullmatch(text)
    if match is None or match[4] != _checksum(match[1]):
        return None
    return Key(match[2], match[3], text)


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:_CHECKSUM_LENGTH]
