"""Merkle trees against known answers, and against the RFC's own recursive definition."""

import hashlib
from itertools import pairwise

import pytest

from toolpolicy.audit import merkle

# The eight leaves that implementations of RFC 6962 publish their answers for.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
SIZES = (*range(34), 63, 64, 65, 100, 255, 256, 257)


def naive_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 §2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = split(len(leaves))
    pair = naive_root(leaves[:half]) + naive_root(leaves[half:])
    return hashlib.sha256(b"\x01" + pair).digest()


def naive_path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962 §2.1.1, word for word."""
    if len(leaves) == 1:
        return []
    half = split(len(leaves))
    if index < half:
        return [*naive_path(index, leaves[:half]), naive_root(leaves[half:])]
    return [*naive_path(index - half, leaves[half:]), naive_root(leaves[:half])]


def split(size: int) -> int:
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def some_leaves(size: int) -> list[bytes]:
    return [hashlib.sha256(b"\x00%d" % number).digest() for number in range(size)]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_published_ones(size):
    assert merkle.root([merkle.leaf(data) for data in LEAVES[:size]]).hex() == ROOTS[size]


@pytest.mark.parametrize("size", SIZES)
def test_roots_and_paths_are_those_of_the_recursive_definition(size):
    leaves = some_leaves(size)
    tree = merkle.Tree(leaves)
    assert tree.root == naive_root(leaves)
    assert [tree.path(i) for i in range(size)] == [naive_path(i, leaves) for i in range(size)]


@pytest.mark.parametrize("size", SIZES)
def test_every_path_leads_to_the_root_from_its_own_place_alone(size):
    leaves = some_leaves(size)
    tree = merkle.Tree(leaves)
    for index, digest in enumerate(leaves):
        path = tree.path(index)
        assert merkle.root_from_path(digest, index, size, path) == tree.root
        assert led_to(digest, (index + 1) % size, size, path) != tree.root or size == 1
        assert led_to(merkle.leaf(digest), index, size, path) != tree.root


def led_to(digest: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    try:
        return merkle.root_from_path(digest, index, size, path)
    except ValueError:
        return None


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 13])
def test_a_path_that_is_too_short_or_too_long_proves_nothing(size):
    leaves = some_leaves(size)
    for index, path in enumerate(map(merkle.Tree(leaves).path, range(size))):
        with pytest.raises(ValueError, match="too long"):
            merkle.root_from_path(leaves[index], index, size, [*path, leaves[0]])
        if path:
            with pytest.raises(ValueError, match="too short"):
                merkle.root_from_path(leaves[index], index, size, path[:-1])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_there_is_no_path_of_a_leaf_that_is_not_there(index, size):
    with pytest.raises(IndexError):
        merkle.Tree(some_leaves(size)).path(index)
    with pytest.raises(ValueError, match="has no leaf"):
        merkle.root_from_path(b"", index, size, [])


def test_a_root_tells_the_order_and_the_number_of_its_leaves():
    leaves = some_leaves(9)
    orders = [leaves, leaves[::-1], leaves[1:], [*leaves, leaves[-1]], [leaves[1], leaves[0]]]
    roots = sorted(merkle.root(order) for order in orders)
    assert all(one != other for one, other in pairwise(roots))
