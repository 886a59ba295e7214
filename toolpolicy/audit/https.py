"""One POST over HTTPS to a server in allowed networks, and to nothing else.

The name is resolved once, every address is judged, and the connection goes to the address that was
judged: a name that resolves otherwise a moment later changes nothing. Redirects are not followed.
"""

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

CONFLICT: Final = 409
_SECONDS: Final = 5
_PORT: Final = 443


def is_success(status: int) -> bool:
    """Tell whether an HTTP status says that all is well."""
    return 200 <= status < 300  # noqa: PLR2004  (the class of status codes)


def post(url: str, body: bytes, networks: Sequence[str]) -> int:
    """Send a body as JSON and return the status. Raise OSError when it cannot be sent.

    `networks` are the networks (CIDR) in which the server may be.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORT
    connection = _Pinned(host, port, _allowed_address(host, port, networks))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    except http.client.HTTPException as error:
        raise OSError(f"no answer that is HTTP: {type(error).__name__}") from error
    finally:
        connection.close()


def _allowed_address(host: str, port: int, networks: Sequence[str]) -> str:
    allowed = [ipaddress.ip_network(network) for network in networks]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host} can be no name of a server") from error
    for *_, place in found:
        address = str(place[0])
        if any(ipaddress.ip_address(address) in network for network in allowed):
            return address
    raise OSError(f"{host} is in none of the networks of TOOLPOLICY_CHECKPOINT_NETWORKS")


class _Pinned(http.client.HTTPSConnection):
    """A connection to one address that must show the certificate of a name."""

    def __init__(self, host: str, port: int, address: str) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(host, port, timeout=_SECONDS, context=self._tls)
        self._address = address

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), _SECONDS)
        try:
            self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise
