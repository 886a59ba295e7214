"""Whatever is refused or fails is a problem document (RFC 9457) that names every fault."""

import logging

import pytest
from django.test import override_settings

from toolpolicy.api import guide
from toolpolicy.api.problems import KINDS, page_of
from toolpolicy.engine.faults import MOST_NAMED
from toolpolicy.engine.lint.findings import FindingCode
from toolpolicy.engine.words import ReasonCode
from toolpolicy.models import Layer
from toolpolicy.services import policies

MEMBERS = {"type", "title", "status", "detail", "code", "request_id", "errors"}


def problem_of(response):
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem.keys() >= MEMBERS
    assert problem["status"] == response.status_code
    assert problem["request_id"] == response.headers["X-Request-ID"]
    assert problem["title"] == KINDS[problem["code"]].title
    return problem


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("GET", "layers/999999/", {}, 404, "not_found"),
        ("GET", "no/such/address/", {}, 404, "not_found"),
        ("POST", "decisions", {}, 404, "not_found"),
        ("GET", "/api/v9/decisions/", {}, 404, "not_found"),
        ("GET", "decisions/", {}, 405, "method_not_allowed"),
        ("GET", "layers/", {"Accept": "text/html"}, 406, "not_acceptable"),
        ("POST", "layers/", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ("POST", "decisions/", {"Content-Type": ""}, 415, "unsupported_media_type"),
        (
            "POST",
            "decisions/",
            {"Content-Type": "application/json; charset=latin-1"},
            415,
            "unsupported_media_type",
        ),
        ("POST", "decisions/", {"Content-Encoding": "gzip"}, 415, "unsupported_media_type"),
        ("POST", "layers/", {}, 400, "malformed"),
        ("GET", "layers/?colour=red", {}, 400, "bad_query"),
        ("POST", "decisions/?dry_run=true", {}, 400, "bad_query"),
        ("DELETE", "layers/{layer}/", {}, 428, "version_required"),
        ("DELETE", "layers/{layer}/", {"If-Match": "*"}, 400, "bad_header"),
        ("DELETE", "layers/{layer}/", {"If-Match": '"7"'}, 412, "stale"),
    ],
)
def test_each_kind_of_refusal_is_a_problem(api, method, path, headers, status, code):
    path = path.format(layer=Layer.objects.earliest("pk").pk)
    response = api.send(method, path, b"{" if method == "POST" else None, **headers)
    problem = problem_of(response)
    assert (problem["status"], problem["code"]) == (status, code)


def test_an_address_without_its_slash_is_told_so(api):
    assert "end in a slash" in problem_of(api.post("decisions", {}))["detail"]


def test_every_code_has_a_page_and_every_page_a_code(stranger):
    reasons = {str(code) for code in ReasonCode}
    assert set(guide.codes("reasons")) == reasons
    findings = {str(code) for code in FindingCode}
    assert set(guide.codes("problems")) == KINDS.keys() - reasons
    assert set(guide.codes("lint")) == findings
    for code, address in [
        *((code, page_of(code)) for code in {*KINDS, *reasons}),
        *((code, f"/docs/lint/{code}/") for code in findings),
    ]:
        page = stranger.get(address)
        assert page.status_code == 200
        html = page.content.decode()
        assert f"<h1><code>{code}</code></h1>" in html
        assert html.index("<h2>Cause</h2>") < html.index("<h2>Remedy</h2>")
        assert "`" not in html


def test_a_page_of_no_code_is_not_found(stranger):
    assert stranger.get("/docs/reasons/nothing/").status_code == 404
    assert stranger.get("/docs/secrets/allowed/").status_code == 404


def test_all_codes_are_listed(stranger):
    html = stranger.get("/docs/problems/").content.decode()
    assert '<a href="/docs/problems/malformed/"><code>malformed</code></a>' in html


@pytest.fixture
def broken(monkeypatch):
    """Break reading the live policy with a message that nobody outside may see."""

    def fail():
        raise RuntimeError("secret-of-the-house")

    monkeypatch.setattr(policies, "live", fail)


@pytest.mark.parametrize("debug", [False, True])
def test_what_nobody_foresaw_says_nothing_of_itself(api, broken, caplog, debug):
    with override_settings(DEBUG=debug), caplog.at_level(logging.ERROR, "toolpolicy.api"):
        response = api.get("policy/", X_Request_ID="trace-me")
    problem = problem_of(response)
    assert (problem["status"], problem["code"], problem["outcome"]) == (500, "internal", "deny")
    text = response.content.decode()
    assert "secret-of-the-house" not in text
    assert "Traceback" not in text
    (line,) = [one for one in caplog.records if one.name == "toolpolicy.api.failures"]
    assert line.getMessage() == "trace-me: GET `/api/v1/policy/` failed"
    assert line.exc_info is not None
    assert str(line.exc_info[1]) == "secret-of-the-house"


def test_a_server_error_before_any_view_is_a_problem_too(api, monkeypatch):
    def fail(*_args, **_kwargs):
        raise RuntimeError("secret-of-the-house")

    monkeypatch.setattr("django.middleware.common.CommonMiddleware.process_request", fail)
    response = api.get("policy/")
    assert problem_of(response)["code"] == "internal"
    assert b"secret" not in response.content


def test_an_unknown_host_is_a_problem(api):
    response = api.get("policy/", Host="evil.example")
    assert problem_of(response)["code"] == "bad_request"


def test_outside_the_api_errors_are_pages(stranger):
    response = stranger.get("/nothing/")
    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")


def test_more_faults_than_are_named_are_counted(api):
    members = {f"m{number}": 1 for number in range(MOST_NAMED + 5)}
    problem = problem_of(api.post("decisions/", {**members, "surface": "call", "tool": "x"}))
    assert len(problem["errors"]) == MOST_NAMED
    assert problem["more_errors"] == 5


def test_answers_are_kept_by_no_cache_and_read_by_no_other_site(api):
    response = api.post("decisions/", {"surface": "call", "tool": "x"})
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert not [name for name in response.headers if name.startswith("Access-Control")]
    assert api.get("layers/").headers["Cache-Control"] == "no-store"
    assert api.get("nothing/").headers["Cache-Control"] == "no-store"
