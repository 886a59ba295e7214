"""Where a request came from, read from what it says about itself (RELIABILITY §7, ASVS 4.1.3).

Pure functions over header texts, so that the REST face, the admin and a path before Django agree.
"""

import re
import uuid
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from toolpolicy.services.actors import NOWHERE, Origin

REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BRACKETED: Final = re.compile(r"\[([^\]]+)\](?::\d+)?")
_WITH_PORT: Final = re.compile(r"([^:]+):\d+")


def request_id_of(given: str | None) -> str:
    """Return the caller's own request id where it is one, else a fresh one.

    Anything but 1 to 64 of `A-Z a-z 0-9 . _ -` could break a log line or a header.
    """
    if given is not None and REQUEST_ID.fullmatch(given):
        return given
    return uuid.uuid4().hex


def client_address(remote: str, forwarded_for: str, trusted_proxies: int) -> str:
    """Return the caller's address. Each trusted proxy appends the address that it was called from.

    So only that many entries, counted from the end, are believed; what stands before them is
    whatever the caller wrote. Too few entries mean that a proxy was passed by: then the peer's own
    address counts.

    >>> client_address("10.0.0.1", "6.6.6.6, 203.0.113.9", 1)
    '203.0.113.9'
    >>> client_address("10.0.0.1", "6.6.6.6, 203.0.113.9", 0)
    '10.0.0.1'
    """
    hops = [hop.strip() for hop in forwarded_for.split(",")] if forwarded_for else []
    if 0 < trusted_proxies <= len(hops):
        named = _address(hops[-trusted_proxies])
        if named is not None:
            return named
    return _address(remote) or ""


def counted_address(address: str) -> str:
    """Return what requests of this address are counted under: an IPv6 network of 64 bits is one.

    Whoever has one IPv6 address has 2^64 of them.
    """
    read = _read(address)
    if not isinstance(read, IPv6Address):
        return address
    network = int(read) >> 64 << 64
    return f"{IPv6Address(network)}/64"


def origin_of(request: object) -> Origin:
    """Return the origin that the middleware noted on a request; empty where it did not run."""
    origin = getattr(request, "origin", NOWHERE)
    return origin if isinstance(origin, Origin) else NOWHERE


def _address(text: str) -> str | None:
    """Return an address in its one spelling, without brackets and port; None if it is none."""
    match = _BRACKETED.fullmatch(text) or _WITH_PORT.fullmatch(text)
    # A zone (`fe80::1%eth0`) is a name on one machine, not a part of the address.
    read = _read((match[1] if match else text).partition("%")[0])
    if isinstance(read, IPv6Address) and read.ipv4_mapped is not None:
        read = read.ipv4_mapped
    return None if read is None else str(read)


def _read(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
