"""A small HTTPS server with a certificate of its own authority, for tests of who is told what."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Seen:
    """What reached a server: connections, and the bodies of requests."""

    port: int = 0
    connections: int = 0
    bodies: list[bytes] = field(default_factory=list)


def status(code: int, **headers: str) -> Answer:
    """Answer with a status and nothing else."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def garbage(handler: BaseHTTPRequestHandler) -> None:
    """Answer with what is no HTTP."""
    handler.wfile.write(b"\x00\x01 no protocol\r\n\r\n")


@dataclass(frozen=True)
class Authority:
    """A certificate authority in a folder; `file` is its certificate."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    name: x509.Name

    @property
    def file(self) -> Path:
        return self.folder / "authority.pem"

    def issue(self, host: str) -> Path:
        """Return a file with a key and a certificate for a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        made = _builder(subject, self.name, key).add_extension(names, critical=False)
        path = self.folder / f"{host}.pem"
        path.write_bytes(_pem(key, made.sign(self.key, hashes.SHA256())))
        return path


def authority(folder: Path) -> Authority:
    """Make an authority."""
    folder.mkdir(exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
    basic = x509.BasicConstraints(ca=True, path_length=0)
    made = _builder(name, name, key).add_extension(basic, critical=True)
    own = Authority(folder, key, name)
    certificate = made.sign(key, hashes.SHA256())
    own.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return own


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1))
    return builder.not_valid_after(now + timedelta(days=1))


def _pem(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    encoding = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    return key.private_bytes(encoding, form, plain) + certificate.public_bytes(encoding)


@contextmanager
def serving(certificate: Path, answer: Answer, host: str = "127.0.0.1") -> Iterator[Seen]:
    """Serve on a free port; each POST is noted and answered."""
    seen = Seen()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            answer(self)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def verify_request(self, *_: Any) -> bool:
            seen.connections += 1
            return True

        def finish_request(self, request: Any, client_address: Any) -> None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            try:
                with context.wrap_socket(request, server_side=True) as secured:
                    super().finish_request(secured, client_address)
            except OSError:
                pass  # the client did not like the certificate

    with Server((host, 0), Handler) as server:
        seen.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield seen
        finally:
            server.shutdown()
            thread.join()
