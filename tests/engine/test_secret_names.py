"""Names of members that say that their value is a secret."""

import pytest

from toolpolicy.engine.secret_names import DEFAULT_SECRETS, SecretNames, words

WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "password")
SPELLED = [
    ("password", ["password"]),
    ("userPassword", ["user", "password"]),
    ("X-Api-Key", ["x", "api", "key"]),
    ("APIKey", ["api", "key"]),
    ("HTTPProxyAuthorization", ["http", "proxy", "authorization"]),
    ("oauth2_token", ["oauth", "2", "token"]),
    ("password1", ["password", "1"]),
    ("a.b/c d", ["a", "b", "c", "d"]),
    ("pass\u200bword", ["pass", "word"]),
    (WIDE, ["password"]),
    ("Straße", ["strasse"]),
    ("", []),
]
MASKED = [
    *("password", "Password", "PASSWORD", "user_password", "userPassword", "PassWord"),
    *("pass_word", "pass\u200bword", WIDE, "password2", "new-password-again"),
    *("token", "accessToken", "access_token", "accesstoken", "X-Auth-Token", "refreshToken"),
    *("api_key", "apiKey", "apikey", "APIKEY", "X-Api-Key", "api key", "x_api_key_id"),
    *("Authorization", "Proxy-Authorization", "authorization_header", "Set-Cookie", "cookie"),
    *("aws_secret_access_key", "AWS_ACCESS_KEY_ID", "privateKey", "client_secret", "clientsecret"),
    *("pAsSwOrD", "user_pAsSwOrD", "p-a-s-s-w-o-r-d", "A_p_I_k_E_y", "sEcReT"),
    *("PGPASSWORD", "userpassword", "MYSQL_ROOTPASSWORD", "userpwd", "csrftoken", "myapikey"),
    *("SSHPASS", "SSH_PASS", "DB_PASS", "userPass", "SMTP_PASS_2", "dbpass"),
    *("pass", "Pass", "PW", "p.w", "pin", "PIN"),
    *("credentials", "dbCredentials", "connectionString", "jwt", "passphrase", "cvv"),
    *("passwort", "DB_PASSWORT", "neuesPasswort", "Datenbankpasswort", "kennwort", "WLAN-Kennwort"),
    *("dsn", "SENTRY_DSN", "pgDsn", "kubeconfig", "KUBECONFIG", "kube_config"),
    *("ssn", "SSN", "employeeSSN"),
]
SHOWN = [
    *("tokenizer", "tokenize", "tokens", "secretary", "passwordless", "author", "authority"),
    *("key", "keyboard", "api", "access", "private", "name", "path", "accessible", "cookiecutter"),
    *("pass_through", "boarding_pass", "passed", "compass", "bypass", "pass_count", "passenger"),
    *("pin_board", "pinned", "ping", "spin", "pins", "shipping_pin", "pw_hash", "mpw", "OLDCWD"),
    *("passwortlos", "Kennwortregeln", "dsname", "kube", "config", "session", "ssnap", "ssns"),
    *("max_tokens", "monkey", "api_version_key", "", "…", "路径"),
]


@pytest.mark.parametrize(("name", "found"), SPELLED, ids=ascii)
def test_a_name_is_cut_into_words(name, found):
    assert words(name) == found


@pytest.mark.parametrize("name", MASKED, ids=ascii)
def test_the_built_in_patterns_find_a_secret_however_it_is_written(name):
    assert SecretNames(DEFAULT_SECRETS).met(name) is not None


@pytest.mark.parametrize("name", SHOWN, ids=ascii)
def test_the_built_in_patterns_leave_other_names_alone(name):
    assert SecretNames(DEFAULT_SECRETS).met(name) is None


def test_a_pattern_is_written_in_any_way_and_named_as_it_was_written():
    for written in ("national_id", "nationalId", "National-ID"):
        assert SecretNames((written,)).met("userNationalID") == written


def test_the_first_of_two_spellings_is_named():
    assert SecretNames(("apiKey", "api_key")).met("api-key") == "apiKey"


def test_a_glob_is_over_the_whole_name():
    names = SecretNames(("*_pin", "x?z"))
    assert [names.met(name) for name in ("card_PIN", "pin", "my_pins", "xyz", "wxyz")] == [
        *("*_pin", None, None, "x?z", None)
    ]


def test_nothing_is_met_without_patterns():
    assert SecretNames(()).met("password") is None


def test_what_is_remembered_is_bounded_and_changes_no_answer():
    names = SecretNames(("token",))
    for number in range(5_000):
        assert names.met(f"n{number}") is None
    assert names.met("x" * 10_000 + "_token") == "token"
    assert len(names._seen) < 5_000
    assert max(map(len, names._seen)) < 100
    assert [names.met("token"), names.met("token")] == ["token", "token"]
