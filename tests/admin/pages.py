"""What the tests of the admin share: clients that are signed in, and readers of pages."""

from html.parser import HTMLParser
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import make_user
from toolpolicy.engine.questions import parse_question
from toolpolicy.services import decisions
from toolpolicy.services.actors import Actor

PASSWORD = "a long enough phrase"


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def staff(username: str = "sam", **held: Any) -> Any:
    user = make_user(username, **held)
    user.is_staff = True
    user.save()
    return user


def superuser(username: str = "root") -> User:
    return User.objects.create_superuser(username, password=PASSWORD)


def address(model: str, page: str = "changelist", *args: Any) -> str:
    app = "auth" if model in ("user", "group") else "toolpolicy"
    return reverse(f"admin:{app}_{model}_{page}", args=args)


def decide(name: str, *, asker: Actor | None = None, **members: Any) -> decisions.Answer:
    question = {"surface": "call", "tool": name, **members}
    return decisions.decide(asker=asker or Actor.system("tests"), question=parse_question(question))


def text_of(response: Any) -> str:
    assert response.status_code == 200, response.status_code
    return str(response.content.decode())


def form_values(response: Any, **changes: Any) -> dict[str, Any]:
    """Return what a browser would send from a change form, with some fields changed."""
    form = response.context["adminform"].form
    sent: dict[str, Any] = {}
    for name in form.fields:
        value = form[name].value()
        if value is True:
            sent[name] = "on"
        elif value not in (False, None):
            shown = form[name].field.prepare_value(value)
            sent[name] = form[name].field.widget.format_value(shown) if _formats(shown) else shown
    sent.update(changes)
    return {name: value for name, value in sent.items() if value is not None}


def _formats(value: Any) -> bool:
    return not isinstance(value, list | bool)


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200, response.status_code
    return {name: list(found) for name, found in response.context["adminform"].form.errors.items()}


class _Headings(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002  (its signature)
        self.tags.append(tag)


def count_of(tag: str, page: str) -> int:
    reader = _Headings()
    reader.feed(page)
    return reader.tags.count(tag)
