"""The page of the matrix as a test reads it."""

import html
import re

PAGE = "/admin/matrix/"


def shown(page: str) -> dict[str, list[str]]:
    """Return the words of each row's cells by the name of its tool."""
    rows = re.findall(r"<tr><th scope=row>(.*?)(?=<tr|<tbody|</table)", page, re.DOTALL)
    split = [re.sub(r"<td>", "\n", row) for row in rows]
    lines = [re.sub(r"<[^>]+>", "", row).strip().split("\n") for row in split]
    return {name: cells for name, *cells in lines}


def link_of(page: str, words: str) -> str:
    """Return where a button of the page leads."""
    [address] = re.findall(rf'href="(\?[^"]+)">(?:<svg.*?</svg>)?{words}', page)
    return PAGE + html.unescape(address)
