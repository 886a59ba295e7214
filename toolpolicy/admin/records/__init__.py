"""Records, and what is counted beside them. All read-only."""

from importlib import import_module

# Each registers its pages.
for _subject in ("pages", "counts"):
    import_module(f"{__name__}.{_subject}")
