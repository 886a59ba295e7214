"""The registry of tools: families, tools, what they declared, and imports."""

from importlib import import_module

# Each registers its page.
for _subject in ("families", "tools", "declarations"):
    import_module(f"{__name__}.{_subject}")
