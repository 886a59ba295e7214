"""The pages that explain codes: Markdown in docs/, served as plain HTML.

They use headings, paragraphs, lists and code spans, and nothing else of Markdown.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

DOCS: Final = Path(__file__).resolve().parent.parent.parent / "docs"
_CODE: Final = re.compile(r"`([^`]+)`")
_HEADING: Final = re.compile(r"(#{1,2}) (.+)")


def codes(folder: str) -> list[str]:
    """Return the codes that have a page in a folder."""
    return sorted(path.stem for path in (DOCS / folder).glob("*.md"))


@cache
def page(folder: str, code: str) -> SafeString | None:
    """Return the HTML of a code's page, None where it has none. `code` is a file's stem."""
    if code not in codes(folder):
        return None
    text = (DOCS / folder / f"{code}.md").read_text(encoding="utf-8")
    blocks = re.split(r"\n{2,}", text.strip())
    return mark_safe("\n".join(_html(block) for block in blocks))  # noqa: S308  (escaped below)


def _html(block: str) -> str:
    heading = _HEADING.fullmatch(block)
    if heading:
        level = len(heading[1])
        return f"<h{level}>{_inline(heading[2])}</h{level}>"
    if block.startswith("- "):
        items = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text.strip()))
