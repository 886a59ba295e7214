"""What a process does with its settings: it starts and serves safely, or says what is wrong."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).resolve().parent.parent
SEAL_KEY = {"TOOLPOLICY_SEAL_KEY": "5e" * 32}
SECRET = "a-secret-that-nobody-guesses-" + "0123456789abcdefghijklmnopqrstuvwxyz"


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, which sees these variables and no others."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_a_secret_a_command_ends_with_the_remedy_and_no_traceback():
    ended = run("manage.py", "check")
    assert ended.returncode != 0
    assert "SECRET_KEY is not set" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.fixture
def key_files(tmp_path):
    """Return the variables that name the files of a server's keys; there are none yet."""
    return {
        "SECRET_KEY_FILE": str(tmp_path / "secret"),
        "TOOLPOLICY_SEAL_KEY_FILE": str(tmp_path / "seal.key"),
    }


def test_the_first_keys_of_a_server_are_made_before_the_settings_find_them(key_files):
    made = run(
        "manage.py", "audit", "new-key", "--out", key_files["TOOLPOLICY_SEAL_KEY_FILE"], **key_files
    )
    assert made.returncode == 0, made.stderr
    Path(key_files["SECRET_KEY_FILE"]).write_text(SECRET, encoding="utf-8")
    served = run("-c", "import project.wsgi", **key_files)
    assert served.returncode == 0, served.stderr


def test_the_first_key_of_a_server_can_be_printed():
    made = run("manage.py", "audit", "new-key")
    assert re.fullmatch(r"[0-9a-f]{64}\n", made.stdout), made.stderr


@pytest.mark.parametrize(
    "command",
    [
        *(("manage.py", "audit", "seal"), ("manage.py", "check"), ("manage.py", "migrate")),
        ("-c", "import sys; sys.argv[1:] = ['audit', 'new-key']; import project.wsgi"),
    ],
)
def test_nothing_but_the_making_of_a_key_does_without_the_keys(key_files, command):
    ended = run(*command, **key_files)
    assert ended.returncode != 0
    for variable in key_files:
        assert f"{variable} is" in ended.stderr


def test_a_wrong_setting_stops_the_server():
    ended = run("-c", "import project.wsgi", SECRET_KEY=SECRET, TOOLPOLICY_KEY_ENV="No!")
    assert ended.returncode != 0
    assert "TOOLPOLICY_KEY_ENV is `No!`" in ended.stderr


def test_a_setting_that_only_a_check_refuses_stops_the_server_too():
    ended = run("-c", "import project.wsgi", SECRET_KEY="short", **SEAL_KEY)
    assert ended.returncode != 0
    assert "toolpolicy.E004" in ended.stderr


def test_a_seal_key_that_is_none_stops_the_server():
    ended = run("-c", "import project.wsgi", SECRET_KEY=SECRET, TOOLPOLICY_SEAL_KEY="5e" * 31)
    assert ended.returncode != 0
    assert "toolpolicy.E005" in ended.stderr


def test_a_server_with_right_settings_starts():
    ended = run("-c", "import project.wsgi", SECRET_KEY=SECRET, **SEAL_KEY)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_a_production_environment_passes_the_deployment_checks():
    sink = {"TOOLPOLICY_CHECKPOINT_LOG": "1"}
    command = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    ended = run(*command, SECRET_KEY=SECRET, **SEAL_KEY, **sink)
    assert ended.returncode == 0, ended.stderr
    ended = run(*command, SECRET_KEY=SECRET, **SEAL_KEY)
    assert "toolpolicy.W003" in ended.stderr
    sink = {"TOOLPOLICY_CHECKPOINT_FILE": "/var/elsewhere/{log}.jsonl"}
    ended = run(*command, SECRET_KEY=SECRET, **SEAL_KEY, **sink)
    assert "toolpolicy.W004" in ended.stderr


SHOW_COOKIES = (
    "import django; django.setup(); from django.conf import settings as s; "
    "print(s.DEBUG, s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.ALLOWED_HOSTS)"
)


def test_cookies_need_tls_except_in_development():
    module = {"DJANGO_SETTINGS_MODULE": "project.settings", "SECRET_KEY": SECRET, **SEAL_KEY}
    hosts = "['localhost', '127.0.0.1', '[::1]']"
    assert run("-c", SHOW_COOKIES, **module).stdout == f"False True True {hosts}\n"
    debug = run("-c", SHOW_COOKIES, TOOLPOLICY_DEBUG="1", **module)
    assert debug.stdout == f"True False False {hosts}\n"


@pytest.mark.django_db  # the end of a response looks after the connections that others left open
def test_every_response_forbids_what_comes_from_elsewhere():
    for path in ("/", "/static/admin/css/base.css", "/nothing-here"):
        response = Client().get(path)
        response.close()
        policy = response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self'; frame-ancestors 'none'")
