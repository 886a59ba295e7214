"""Every text that is marked has a translation in each catalogue, with all of its placeholders."""

import ast
import re
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = [language for language, _ in settings.LANGUAGES if language != settings.LANGUAGE_CODE]
CALL = re.compile(r"\b(?:n?p?gettext(?:_lazy)?|npgettext(?:_lazy)?|_)\(")
HOLE = re.compile(r"%(?:\(\w*\)?\w?)?|{\w*}|</?[a-z][^>]*>")
CONTEXT = "\x04"
Message = tuple[str, ...]


def calls(tree: ast.AST) -> Iterator[Message]:
    """Yield the texts of each call that marks some: one, or one and many."""
    for node in ast.walk(tree):
        name = getattr(getattr(node, "func", None), "id", "")
        if not CALL.fullmatch(f"{name}("):
            continue
        assert isinstance(node, ast.Call)
        kind = "gettext" if name == "_" else name.removesuffix("_lazy")
        texts = [ast.literal_eval(one) for one in node.args if isinstance(one, ast.Constant)]
        assert texts, ast.unparse(node)
        if kind.lstrip("n").startswith("p"):
            texts = [f"{texts[0]}{CONTEXT}{text}" for text in texts[1:]]
        yield tuple(texts[: 2 if kind.startswith("n") else 1])


def template_calls(text: str) -> Iterator[Message]:
    """Yield the texts that a template marks."""
    marked = templatize(text, origin="a template")
    for found in CALL.finditer(marked):
        end = marked.index(")", found.end())
        while True:
            try:
                tree = ast.parse(marked[found.start() : end + 1])
            except SyntaxError:
                end = marked.index(")", end + 1)
            else:
                yield from calls(tree)
                break


def marked() -> set[Message]:
    found: set[Message] = set()
    for path in sorted((ROOT / "toolpolicy").rglob("*.py")):
        if "migrations" not in path.parts:
            found |= set(calls(ast.parse(path.read_text(encoding="utf-8"))))
    for path in sorted((ROOT / "templates").rglob("*.html")):
        found |= set(template_calls(path.read_text(encoding="utf-8")))
    return found


def compiled(language: str) -> dict[Any, str]:
    place = Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES"
    with (place / "django.mo").open("rb") as file:
        catalogue: dict[Any, str] = vars(GNUTranslations(file))["_catalog"]
    return catalogue


def written(language: str) -> dict[str, list[str]]:
    """Read a catalogue as it is written: what each text is translated to, by form."""
    path = Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "django.po"
    found: dict[str, list[str]] = {}
    for entry in path.read_text(encoding="utf-8").split("\n\n")[1:]:
        assert "fuzzy" not in entry, entry
        parts: dict[str, str] = {}
        name = ""
        for line in entry.splitlines():
            if match := re.match(r'(msg\w+(?:\[\d\])?) (".*")$', line):
                name, text = match.groups()
                parts[name] = ast.literal_eval(text)
            elif line.startswith('"'):
                parts[name] += ast.literal_eval(line)
        context = parts.get("msgctxt")
        key = f"{context}{CONTEXT}{parts['msgid']}" if context else parts["msgid"]
        found[key] = [text for name, text in parts.items() if name.startswith("msgstr")]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_missing_and_none_is_left_over(language):
    texts = {message[0] for message in marked()}
    assert len(texts) > 500
    said = written(language)
    assert sorted(texts - said.keys()) == []
    assert sorted(said.keys() - texts) == []
    assert sorted(text for text, forms in said.items() if not all(forms)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_the_written_one(language):
    catalogue = compiled(language)
    by_text: dict[str, list[str]] = {}
    for key, text in catalogue.items():
        name = key[0] if isinstance(key, tuple) else key
        if name:
            by_text.setdefault(name, []).append(text)
    assert by_text == written(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_and_markup_are_kept(language):
    plurals = {message[0]: message[-1] for message in marked()}
    for text, forms in written(language).items():
        wanted = [held(text.rpartition(CONTEXT)[2]), held(plurals[text].rpartition(CONTEXT)[2])]
        for form in forms:
            assert held(form) in wanted, form


def held(text: str) -> set[str]:
    """Return what of a text is filled in, or marks it up."""
    return set(HOLE.findall(text))
