"""Words of pages: in the language of who looks at them, or English where the engine made them."""

from typing import TYPE_CHECKING, Final, TypeVar, cast

from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise as Words
else:
    # A text, or one that is translated only when a page shows it.
    Words = str | Promise

__all__ = ("Words", "english", "filled")

SOURCE: Final = "en"
_Text = TypeVar("_Text", bound=str)


def filled(words: "Words", **values: object) -> str:
    """Put values where words name them, `%(name)s`; where one is HTML, all else is escaped.

    >>> filled("%(count)s more", count=3)
    '3 more'
    """
    if not any(isinstance(value, SafeString) for value in values.values()):
        return str(words) % values
    escaped = {name: conditional_escape(cast("str", value)) for name, value in values.items()}
    return SafeString(conditional_escape(words) % escaped)


def english(text: _Text) -> _Text | SafeString:
    """Return what the engine or a service says; on a page in another language, marked as English.

    All of their words are also those of the API and of records, and stay as they are.
    """
    if get_language() in (SOURCE, None):
        return text
    return format_html('<span lang="{}">{}</span>', SOURCE, text)
