"""The list of tools as a test reads and sends it."""

import re
from typing import Any

from tests.admin.pages import address, text_of
from toolpolicy.models import Tool

LIST = address("tool")


def names(response: Any) -> list[str]:
    return [one.name for one in response.context["cl"].result_list]


def cells(response: Any, column: str) -> list[str]:
    page = text_of(response)
    found = re.findall(rf'<td class="field-{column}">(.*?)</td>', page, re.DOTALL)
    return [re.sub(r"<[^>]+>", "", one).strip() for one in found]


def sent(response: Any, *ticked: Tool, **more: str) -> dict[str, Any]:
    """Return what the list's form sends with these tools ticked and no others."""
    shown = response.context["cl"].shown
    return {"shown": shown, "_selected_action": [one.pk for one in ticked], **more}
