"""A checkpoint goes over HTTPS to a server in the allowed networks, and to nothing else."""

import socket
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.audit.logs import write_records
from tests.audit.tls_server import authority, garbage, serving, status
from toolpolicy.audit import blocks, checkpoints, https, sealer
from toolpolicy.models import Block, SinkState

pytestmark = pytest.mark.django_db
HOST = "sink.test"
LOCAL = ("127.0.0.0/8",)
resolve = socket.getaddrinfo


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """Make an authority that this process trusts, and no other."""
    own = authority(tmp_path / "own")
    monkeypatch.setenv("SSL_CERT_FILE", str(own.file))
    return own


@pytest.fixture
def names(monkeypatch):
    """Resolve the name of the server to what a test says; count how often that is asked."""
    known = {HOST: ["127.0.0.1"]}
    asked = []

    def answer(host, port, *rest, **options):
        asked.append(host)
        addresses = known.get(host, [host])
        address = addresses.pop(0) if len(addresses) > 1 else addresses[0]
        return resolve(address, port, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    known["asked"] = asked
    return known


@pytest.fixture
def configured(settings):
    def configure(port, host=HOST, networks=LOCAL):
        values = {"checkpoint_url": f"https://{host}:{port}/kept?a=1"}
        settings.TOOLPOLICY = replace(
            settings.TOOLPOLICY, **values, checkpoint_networks=tuple(networks)
        )

    return configure


def told() -> SinkState:
    if not Block.objects.exists():
        write_records(1)
        sealer.seal_all()
    checkpoints.tell(at_once=True)
    return SinkState.objects.get(name="url")


def test_the_newest_block_is_sent_as_one_line(trusted, names, configured):
    with serving(trusted.issue(HOST), status(200)) as seen:
        configured(seen.port)
        state = told()
    (line,) = seen.bodies
    block = Block.objects.get(number=1)
    assert blocks.parse_line(line.decode().rstrip("\n")) == (block.text, block.signature)
    assert (state.block, state.error, state.failing_since) == (1, "", None)


def test_the_address_that_was_judged_is_the_one_that_is_connected_to(trusted, names, configured):
    names[HOST] = ["127.0.0.1", "127.0.0.2", "127.0.0.2"]
    with serving(trusted.issue(HOST), status(200)) as seen:
        configured(seen.port, networks=("127.0.0.1/32",))
        assert told().error == ""
    assert names["asked"].count(HOST) == 1


ANSWERS = {
    "a redirect": (status(302, Location="https://127.0.0.1/"), "answered 302"),
    "a fault": (status(500), "answered 500"),
    "a conflict": (status(409), "holds a newer checkpoint"),
    "no HTTP": (garbage, "no answer that is HTTP"),
    "silence": (lambda _: time.sleep(1), "timed out"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_success_is_shown_and_the_log_goes_on(
    trusted, names, configured, name, monkeypatch
):
    answer, said = ANSWERS[name]
    monkeypatch.setattr(https, "_SECONDS", 0.5)
    with serving(trusted.issue(HOST), answer) as seen:
        configured(seen.port)
        state = told()
    assert said in state.error
    assert (state.block, state.at) == (0, None)
    assert state.failing_since is not None
    assert len(seen.bodies) == 1
    write_records(1)
    assert sealer.seal_all() == 1


def test_a_redirect_is_not_followed(trusted, names, configured):
    certificate = trusted.issue(HOST)
    with serving(certificate, status(200)) as other:
        there = status(307, Location=f"https://{HOST}:{other.port}/")
        with serving(certificate, there) as seen:
            configured(seen.port)
            told()
    assert (seen.connections, other.connections) == (1, 0)


def test_a_server_that_failed_is_told_again_later(trusted, names, configured, monkeypatch):
    answers = [status(500), status(200)]

    def answer(handler):
        answers.pop(0)(handler)

    with serving(trusted.issue(HOST), answer) as seen:
        configured(seen.port)
        failing = told()
        checkpoints.tell()
        assert len(seen.bodies) == 1
        later = timezone.now() + timedelta(seconds=61)
        monkeypatch.setattr(timezone, "now", lambda: later)
        checkpoints.tell()
    well = SinkState.objects.get(name="url")
    assert failing.failing_since is not None
    assert (well.block, well.error, well.failing_since) == (1, "", None)


def test_another_name_in_the_certificate_is_not_spoken_to(trusted, names, configured):
    with serving(trusted.issue("other.test"), status(200)) as seen:
        configured(seen.port)
        state = told()
    assert "certificate verify failed" in state.error
    assert seen.bodies == []


def test_an_authority_that_nobody_trusts_is_not_spoken_to(trusted, names, configured, tmp_path):
    stranger = authority(tmp_path / "stranger")
    with serving(stranger.issue(HOST), status(200)) as seen:
        configured(seen.port)
        assert "certificate verify failed" in told().error
    assert seen.bodies == []


# --- addresses that no setting allows -------------------------------------------------------------

FORMS = {
    "a name": (HOST, "127.0.0.1"),
    "a name of the other family": (HOST, "::1"),
    "a name of the metadata service": (HOST, "169.254.169.254"),
    "a name of a mapped address": (HOST, "::ffff:127.0.0.1"),
    "an address": ("127.0.0.1", None),
    "decimal": ("2130706433", None),
    "octal": ("0177.0.0.1", None),
    "hexadecimal": ("0x7f000001", None),
    "short": ("127.1", None),
    "nothing but zeros": ("0.0.0.0", None),  # noqa: S104  (nothing listens there)
    "the other family": ("[::1]", None),
    "mapped": ("[::ffff:127.0.0.1]", None),
    "localhost": ("localhost", None),
}


@pytest.fixture
def connections(monkeypatch):
    """Note every address that is connected to."""
    made = []

    def connect(address, *_):
        made.append(address)
        raise OSError("connected")

    monkeypatch.setattr(socket, "create_connection", connect)
    return made


@pytest.mark.parametrize("form", FORMS)
def test_an_address_outside_the_networks_is_never_connected_to(
    names, configured, connections, form
):
    host, address = FORMS[form]
    if address:
        names[HOST] = [address]
    configured(443, host=host, networks=("10.0.0.0/8", "fd00::/8"))
    state = told()
    assert connections == []
    assert "is in none of the networks" in state.error


def test_the_first_address_that_is_allowed_is_taken(names, configured, connections, monkeypatch):
    both = [
        *resolve("127.0.0.1", 443, type=socket.SOCK_STREAM),
        *resolve("10.1.2.3", 443, type=socket.SOCK_STREAM),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    configured(443, networks=("10.0.0.0/8",))
    told()
    assert connections == [("10.1.2.3", 443)]


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 70 + ".test", "xn--.test"])
def test_a_name_that_nobody_resolves_is_told_and_nothing_ends(configured, host):
    configured(443, host=host)
    state = told()
    assert state.error.startswith("the checkpoint server cannot be told")
