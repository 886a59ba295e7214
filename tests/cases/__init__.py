"""Cases as data, run through the engine, the service and REST alike.

Each file holds a list of `{"case": sentence, "layers": [envelope …], "tools"?: [subject …],
"question": body of POST decisions/, "expect": members of the answer}`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]


def load(name: str) -> list[Any]:
    """Return the cases of one file as pytest parameters, named by their sentences."""
    text = (Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8")
    return [pytest.param(case, id=case["case"]) for case in json.loads(text)]
