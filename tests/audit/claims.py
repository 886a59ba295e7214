"""What sealed records may say of a text that is gone, and whether it is believed.

Each is the text's age in days when it went, its kind, and whether somebody asked for it.
"""

Claim = tuple[int, str, bool]
BELIEVED: dict[str, Claim] = {
    "it was too old": (500, "decision", False),
    "it was just too old": (183, "decision", False),
    "somebody asked for it": (1, "decision", True),
}
DISBELIEVED: dict[str, Claim] = {
    "it was young": (1, "decision", False),
    "it was not old enough": (181, "listing", False),
    "a pruning": (500, "prune", False),
    "a pruning, asked for": (500, "prune", True),
    "an erasure": (500, "erase", True),
    "a repair": (500, "repair", True),
    "a new key": (500, "rotation", True),
}
