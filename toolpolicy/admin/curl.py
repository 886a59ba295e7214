"""What to paste: a first decision, asked for at this very server."""

from django.http import HttpRequest

from toolpolicy.services.first_question import curl_line, python_lines

PLACEHOLDER = "tp_…"


def example(request: HttpRequest, key: str = PLACEHOLDER) -> str:
    """Return a curl command that asks for a decision with `key`."""
    return curl_line(key, server=request.build_absolute_uri("/"))


def python_example(request: HttpRequest, key: str = PLACEHOLDER) -> str:
    """Return Python that asks the same."""
    return python_lines(key, server=request.build_absolute_uri("/"))
