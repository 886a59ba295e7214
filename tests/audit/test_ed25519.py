"""The verifier's own Ed25519: the RFC's vectors, and agreement with `cryptography`."""

import json
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpolicy.audit import verify_bundle as verifier
from toolpolicy.audit.verify_bundle import ORDER, Fault, P, PublicKey

VECTORS = json.loads(Path(__file__).with_name("rfc8032.json").read_text(encoding="utf-8"))
ORDER_BYTES = ORDER.to_bytes(32, "little")
# The eight points of small order, and the other ways to write them that a lax reader takes.
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
NOT_CANONICAL = [
    "0100000000000000000000000000000000000000000000000000000000000080",  # minus zero
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  # y = p
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


def signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Ask the verifier, whose messages are texts, about any bytes."""
    text = type("Text", (str,), {"encode": lambda _: message})()
    return PublicKey(public.hex()).signed(text, signature.hex())


def signed_for_openssl(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_signatures_of_the_rfc_hold_and_no_others(vector):
    secret, public, message, signature = (
        bytes.fromhex(vector[name]) for name in ("secret", "public", "message", "signature")
    )
    private = Ed25519PrivateKey.from_private_bytes(secret)
    assert private.public_key().public_bytes_raw() == public
    assert private.sign(message) == signature  # the vector is copied without a slip
    assert signed(public, message, signature)
    assert not signed(public, message + b"\0", signature)
    assert not signed(public, message, signature[:-1] + bytes([signature[-1] ^ 1]))


def test_the_vectors_are_all_five_of_the_rfc():
    assert [len(vector["message"]) // 2 for vector in VECTORS] == [0, 1, 2, 1023, 64]


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200))
@settings(max_examples=30)
def test_what_cryptography_signs_holds(secret, message):
    private = Ed25519PrivateKey.from_private_bytes(secret)
    assert signed(private.public_key().public_bytes_raw(), message, private.sign(message))


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=40), st.data())
@settings(max_examples=60)
def test_both_say_the_same_of_a_changed_key_message_or_signature(secret, message, data):
    private = Ed25519PrivateKey.from_private_bytes(secret)
    parts = [private.public_key().public_bytes_raw(), message, private.sign(message)]
    which = data.draw(st.integers(0, 2))
    bits = len(parts[which]) * 8
    for bit in data.draw(st.lists(st.integers(0, max(bits - 1, 0)), max_size=3)) if bits else ():
        changed = bytearray(parts[which])
        changed[bit // 8] ^= 1 << bit % 8
        parts[which] = bytes(changed)
    try:
        ours = signed(*parts)
    except Fault:  # no key at all: OpenSSL finds out when it verifies
        ours = False
    assert ours == signed_for_openssl(*parts)


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=40))
@settings(max_examples=20)
def test_a_signature_with_the_order_added_is_another_text_and_refused(secret, message):
    private = Ed25519PrivateKey.from_private_bytes(secret)
    signature = private.sign(message)
    more = int.from_bytes(signature[32:], "little") + ORDER
    moved = signature[:32] + more.to_bytes(32, "little")
    assert not signed(private.public_key().public_bytes_raw(), message, moved)


@pytest.mark.parametrize("s", [ORDER, ORDER + 1, 2**252 + 2**251, 2**256 - 1], ids=hex)
def test_s_beyond_the_order_is_refused(s):
    public = bytes.fromhex(VECTORS[0]["public"])
    signature = bytes.fromhex(VECTORS[0]["signature"])[:32] + s.to_bytes(32, "little")
    assert not signed(public, b"", signature)


@pytest.mark.parametrize("key", SMALL_ORDER)
def test_a_key_of_small_order_is_refused(key):
    with pytest.raises(Fault, match="small order"):
        PublicKey(key)


@pytest.mark.parametrize("key", NOT_CANONICAL)
def test_a_point_has_one_way_to_be_written(key):
    with pytest.raises(Fault, match="no point"):
        PublicKey(key)


def test_half_of_all_numbers_are_no_points():
    refused = 0
    for y in range(2, 34):
        try:
            verifier.point(y.to_bytes(32, "little"))
        except Fault:
            refused += 1
    assert 8 <= refused <= 24


@pytest.mark.parametrize(
    "text", ["", "00", "zz" * 32, "0" * 63, " " * 64, None, 7, "é" * 64, "00" * 33], ids=repr
)
def test_a_key_is_32_bytes_in_hex(text):
    with pytest.raises((Fault, ValueError)):
        PublicKey(text)


@given(st.integers(0, P - 1))
@settings(max_examples=60)
def test_decoded_points_lie_on_the_curve(y):
    try:
        x, y, z, t = verifier.point(y.to_bytes(32, "little"))
    except Fault:
        return
    assert (z, t) == (1, x * y % P)
    assert (y * y - x * x - 1 - verifier.D * x * x % P * y * y) % P == 0
