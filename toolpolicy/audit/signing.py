"""The key that seals: Ed25519, from the settings, never from the database."""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

VARIABLE: Final = "TOOLPOLICY_SEAL_KEY"
FORM: Final = "64 hexadecimal digits, as `manage.py audit new-key` prints them"
_SEED: Final = re.compile(r"[0-9a-fA-F]{64}")


class SealRefused(Exception):
    """The log is not sealed any further, and why, in words for who runs the server."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key and its names."""

    private: Ed25519PrivateKey

    @property
    def public(self) -> str:
        """The raw public key, in hex."""
        return self.private.public_key().public_bytes_raw().hex()

    @property
    def key_id(self) -> str:
        """The short name of the public key."""
        return key_id(self.public)

    def sign(self, text: str) -> str:
        """Return the signature over the UTF-8 bytes of a text, in hex."""
        return self.private.sign(text.encode()).hex()


def key_id(public: str) -> str:
    """Return the short name of a public key: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]


def new_seed() -> str:
    """Return a fresh private key as the settings take it."""
    return Ed25519PrivateKey.generate().private_bytes_raw().hex()


def is_seed(text: str) -> bool:
    """Tell whether a text can be a private key."""
    return _SEED.fullmatch(text) is not None


def signer() -> Signer:
    """Return the key of the settings. Raise SealRefused when they give none that is one."""
    seed = settings.TOOLPOLICY_SEAL_KEY
    if not is_seed(seed):
        raise SealRefused(f"{VARIABLE} is no key; give {FORM}")
    return signer_of(seed)


@lru_cache(maxsize=8)
def signer_of(seed: str) -> Signer:
    """Return the signer of a private key that `is_seed`."""
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)))


def is_signed(public: str, text: str, signature: str) -> bool:
    """Tell whether the key (hex) signed the text with this signature (hex); any fault is a no."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), text.encode())
    except (ValueError, TypeError, InvalidSignature):
        return False
    return signature == signature.lower()
