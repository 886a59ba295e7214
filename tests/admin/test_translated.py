"""Every page of the admin speaks one language: nothing on it was left untranslated."""

import json
import re
import uuid
from collections import defaultdict

import pytest
from django.test import Client

from tests.admin import page_list, pseudo
from tests.admin.pages import address, decide, staff, superuser
from tests.admin.pseudo import LANGUAGE, Reader, stored
from tests.admin.test_pages import fill
from tests.admin.test_role_matrix import ACTS, models, path_of, table
from tests.admin.test_roles import ROLES
from tests.factories import SYSTEM
from tests.registry.samples import named
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.models import Layer, PolicyVersion, Tool
from toolpolicy.services import demo, policies
from toolpolicy.services.baseline import BASELINE_NAMES

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
# Names are the same in every language.
NAMES = {"toolpolicy", "JSON", "YAML", "CSV", "HTTP", "UTC"}
# How Django calls its icons of yes and no.
NAMES |= {"True", "False"}
# Layers that lint misses where there are none.
NAMES |= BASELINE_NAMES
# What the forms below are sent, and what is made of it.
NAMES |= {"finance", "read", "write", "agent coder: allowlist", "allow-read_"}
# The engine's; the title of a page has no element that could say so.
NAMES |= {recipe.title for recipe in RECIPES.values()}
# A count or a moment, after a name or alone.
NUMBER = re.compile(r"\s*\d[\d:. -]*( UTC)?$")
LETTER = re.compile(r"[^\W\d_]")


@pytest.fixture
def bracketed(db, monkeypatch):
    """Make the language in brackets one that pages can be in."""
    pseudo.install(monkeypatch)


@pytest.fixture
def house(bracketed):
    """Put in the demo, and something of everything else."""
    policies.install_baseline(actor=SYSTEM)
    demo.load(actor=SYSTEM)
    for number in (1, 2):
        fill(number)
    for name in ("delete_everything", "mail_send"):
        decide(name, context={"agent": "coder", "channel": "chat"})


def reading(user):
    """Return a client of somebody who reads the language in brackets."""
    client = Client(headers={"accept-language": LANGUAGE})
    client.force_login(user)
    return client


def left(response, data):
    page = Reader()
    page.feed(response.content.decode())
    assert page.language in (LANGUAGE, "")  # a part of a page has no root
    assert page.depth == 0
    return sorted({text for text in page.found if not known(text, data)})


def known(text, data):
    """Tell whether a text is data, names, or data and names between signs."""
    for whole in (one for one in data if ", " in one and one in text):
        text = text.replace(whole, "")
    pieces = re.split(r"\s*[,;·→|/()“”#]\s*|^: ", text)
    bare = [piece if piece in data else NUMBER.sub("", piece) for piece in pieces]
    return text.strip("“”") in data or all(
        piece in data or piece in NAMES or not LETTER.search(piece) for piece in bare
    )


def untranslated(client, pages):
    """Return each text that was left untranslated, with the pages that show it.

    A page is an address, or an address and what is sent to it.
    """
    answers = {}
    for name, page in pages.items():
        path, sent = page if isinstance(page, tuple) else (page, None)
        answers[name] = client.get(path, follow=True) if sent is None else client.post(path, sent)
    data, found = stored(), defaultdict(list)
    for name, answer in answers.items():
        if "html" in answer.get("Content-Type", ""):
            for text in left(answer, data):
                found[text].append(name)
    return found


def every_address():
    keys = {model: page_list.one_of(model) for model in models()}
    keys |= {"uid": uuid.uuid4(), "form": "csv"}
    return {
        name: path_of(name, takes, keys) for name, (_, takes) in table().items() if name not in ACTS
    }


def test_every_page_is_translated_whole(house):
    root = superuser()
    pages = {**page_list.pages(), **every_address()}
    assert untranslated(reading(root), pages) == {}


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_only_reads_or_is_refused_is_translated_whole(house, role):
    pages = every_address()
    assert untranslated(reading(staff("sam", groups=(role,))), pages) == {}


def test_pages_without_anything_to_show_are_translated_whole(bracketed):
    lists = {model: address(model) for model in page_list.MODELS}
    others = {name: f"/admin/{name}/" for name in ("matrix", "simulator", "nowhere")}
    pages = {**lists, **others, "home": "/admin/", "login": "/admin/login/"}
    assert untranslated(reading(superuser()), pages) == {}
    assert untranslated(Client(headers={"accept-language": LANGUAGE}), {"login": "/admin/"}) == {}
    assert untranslated(reading(staff("sam")), {"home": "/admin/"}) == {}


def test_answers_to_forms_are_translated_whole(house):
    assert untranslated(reading(superuser()), sent_forms()) == {}


def sent_forms():
    """Return what is sent to every page with a form: previews, questions and what is wrong."""
    layer = Layer.objects.filter(rules__isnull=False).latest("pk")
    rule, tool = layer.rules.earliest("pk"), Tool.objects.earliest("pk")
    rule_page, rule_json = address("rule", "change", rule.pk), {"effect": "deny", "match": {}}
    shown = {"_preview": "1", "shown_as": "json", "json": json.dumps(rule_json)}
    chosen = {"_selected_action": tool.pk}
    labels = {**chosen, "action": "label", "asked": "1", "change_group": "set", "group": "finance"}
    policy = {"mode": "replace", "syntax": "json", "text": json.dumps(policies.export(number=2))}
    tools = {"format": "mcp", "family": "new", "text": json.dumps(named("read", "write"))}
    recipe = address("layer", "recipe", "agent-allowlist")
    key = {"action": "revoke", "_selected_action": page_list.one_of("apiclient")}
    rolled_back = address("policyversion", "roll_back", PolicyVersion.objects.earliest("pk").pk)
    first = f"{address('rule', 'add')}?layer={layer.pk}"
    empty = {f"{model}-empty": (address(model, "add"), {"_save": "1"}) for model in page_list.ADDED}
    return {
        **empty,
        "layer-stale": (address("layer", "change", layer.pk), {"name": "x", "seen_version": "1"}),
        "rule-empty": (first, {"_save": "1", "json": "[]", "shown_as": "json"}),
        "rule-wrong": (rule_page, {**shown, "json": '{"effect": "perhaps"'}),
        "rule-shown": (rule_page, shown),
        "rule-live": (rule_page, {**shown, "_part": "live"}),
        "rule-form": (rule_page, {**shown, "_show": "form"}),
        "label": (address("tool"), {**chosen, "action": "label"}),
        "label-nothing": (address("tool"), {**labels, "change_group": "leave"}),
        "label-shown": (address("tool"), labels),
        "review": (address("tool"), {**chosen, "action": "review"}),
        "revoke": (address("apiclient"), key),
        "import": (address("layer", "import"), policy),
        "import-nothing": (address("layer", "import"), {"mode": "add"}),
        "import-tools": (address("tool", "import"), tools),
        "import-no-tools": (address("tool", "import"), {"format": "mcp", "text": "{"}),
        "recipe": (recipe, {"agent": "coder", "allow": "read_*"}),
        "recipe-nothing": (recipe, {"agent": ""}),
        "roll-back": (rolled_back, {"why": "x" * 600}),
        "simulator": ("/admin/simulator/", {"act": "simulate", "others": "x"}),
        "password": ("/admin/password_change/", {"old_password": "no"}),
        "login": ("/admin/login/", {"username": "root", "password": "no"}),
    }
