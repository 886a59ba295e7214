"""Nothing on a page hides itself or turns text around, wherever it was stored.

What pages show goes through `marks` and the template filter, but a page also has parts that are
Django's: its title, labels of boxes, histories. So each finished page is looked at once more. What
a form sends back stays as it is: the contents of text areas, and values of fields.
"""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import SimpleTemplateResponse

from toolpolicy.engine.faults import printable

# Controls but white space, soft hyphens, marks of direction, joiners and fillers without width.
_UNSEEN: Final = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f"
)
_FIRST: Final = re.compile(f"[{_UNSEEN}]")
_SENT_BACK: Final = (
    r"<textarea\b.*?</textarea>", r"<script\b.*?</script>", r'\bvalue="[^"]*"'
)  # fmt: skip
_PIECES: Final = re.compile("|".join((*_SENT_BACK, f"[{_UNSEEN}]+")), re.DOTALL)


def visible(page: str) -> str:
    """Return a page with what cannot be seen written out, but for what its forms send back."""
    return _PIECES.sub(lambda found: _written(found[0]), page)


def _written(piece: str) -> str:
    return printable(piece) if _FIRST.match(piece) else piece


def showing(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return a view whose pages are `visible`."""

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = view(request, *args, **kwargs)
        if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
            response.add_post_render_callback(_mend)
        else:
            _mend(response)
        return response

    return shown


def _mend(response: HttpResponseBase) -> None:
    """Look at a finished page. Most have nothing to write out, and stay as they are."""
    if not isinstance(response, HttpResponse) or "html" not in response.get("Content-Type", ""):
        return
    page = response.content.decode()
    if _FIRST.search(page):
        response.content = visible(page)
