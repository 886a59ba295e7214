"""Keys, and requests made with them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.api.described import expect_described
from tests.factories import SYSTEM
from toolpolicy.models import ApiClient
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import clients, policies

ROOT = "/api/v1/"
EVERY_SCOPE = tuple(KeyScope.values)


@dataclass
class Api:
    """The API as the holder of one key sees it."""

    key: str
    client: ApiClient | None = None
    http: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def send(self, method: str, path: str, data: Any = None, **headers: str) -> Any:
        """Send `data` as JSON, bytes as they are; header names in the style of Python.

        Whatever comes back has to be what the API's description says.
        """
        if data is not None and not isinstance(data, bytes):
            data = json.dumps(data).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        # Django's client leaves the type of an empty body out.
        content_type = given.pop("Content-Type", "" if data is None else "application/json")
        address = path if path.startswith("/") else ROOT + path
        answer = self.http.generic(
            method,
            address,
            data or b"",
            content_type=content_type,
            headers=sent | given,
            CONTENT_TYPE=content_type,
        )
        if answer.streaming:
            answer = whole(answer)
        expect_described(method, address, answer)
        return answer

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def post(self, path: str, data: Any = None, **headers: str) -> Any:
        return self.send("POST", path, data, **headers)

    def patch(self, path: str, data: Any, **headers: str) -> Any:
        return self.send("PATCH", path, data, **headers)

    def put(self, path: str, data: Any, **headers: str) -> Any:
        return self.send("PUT", path, data, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.send("DELETE", path, **headers)


def whole(answer: Any) -> Any:
    """Return a streamed answer as one that is read like the others."""
    found: Any = HttpResponse(
        answer.getvalue(), status=answer.status_code, headers=dict(answer.headers)
    )
    found.json = lambda: json.loads(found.content)
    return found


@pytest.fixture
def key_with(db: None) -> Callable[..., Api]:
    """Make a key with some scopes."""

    def make(*scopes: str, name: str = "a host", **values: Any) -> Api:
        values |= {"name": name, "scopes": list(scopes)}
        client, key = clients.create(actor=SYSTEM, values=values)
        return Api(key, client)

    return make


@pytest.fixture
def api(key_with: Callable[..., Api]) -> Api:
    """Give the API with a key that may do everything, over the baseline layers."""
    policies.install_baseline(actor=SYSTEM)
    return key_with(*EVERY_SCOPE, name="everything")


@pytest.fixture
def stranger(db: None) -> Api:
    """Give the API without a key."""
    return Api("")
