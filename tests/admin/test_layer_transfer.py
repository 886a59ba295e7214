"""The policy in and out of the admin: a file, what it would change in words, then the import."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.admin.pages import address, signed_in, staff, text_of
from tests.documents.faces import command
from tests.factories import live_version, make_layer, make_rule
from tests.growing import Choices, documents
from toolpolicy.admin import policy_changes
from toolpolicy.models import Layer, Record
from toolpolicy.services import policies
from toolpolicy.services.documents.sources import write

pytestmark = pytest.mark.django_db

IMPORT = address("layer", "import")
PLAIN = {"mode": "replace", "syntax": "", "text": "", "scope": "", "target": "", "name": ""}
DENY = {"effect": "deny", "match": {"name": "rm_*"}}


def upload(content, name="policy.yaml", **changes):
    data = content if isinstance(content, bytes) else content.encode()
    return {**PLAIN, "file": SimpleUploadedFile(name, data), **changes}


def paste(text, syntax="json", **changes):
    text = text if isinstance(text, str) else json.dumps(text)
    return {**PLAIN, "text": text, "syntax": syntax, **changes}


def document(*layers):
    entries = [
        {
            "scope": "config",
            "position": place,
            "combining": "deny_overrides",
            "policy": {"name": name, "rules": list(rules)},
        }
        for place, (name, *rules) in enumerate(layers)
    ]
    return {"format": "toolpolicy/1", "layers": entries}


def confirm(page) -> dict[str, str]:
    return {"held": page.context["form"]["held"].value()}


def errors(response):
    assert response.status_code == 200
    return {name: list(found) for name, found in response.context["form"].errors.items()}


# --- out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "option"), [("yaml", "--yaml"), ("json", "--json")])
def test_the_live_policy_is_saved_as_the_command_writes_it(root, form, option):
    make_rule(make_layer("é"), match={"name": "on"})
    page = text_of(root.get(address("layer")))
    link = f"{address('layer', 'export')}?format={form}"
    assert f'href="{link}"' in page
    answer = root.get(link)
    assert answer.content.decode() == command("export", option)
    assert answer["Content-Disposition"] == f'attachment; filename="policy-2.{form}"'
    assert answer["Content-Type"] == f"application/{form}"


@pytest.mark.parametrize("query", ["", "?format=prompt", "?format=xml"])
def test_a_form_that_is_not_written_is_no_page(root, query):
    make_layer()
    assert root.get(address("layer", "export") + query).status_code == 404


def test_without_a_policy_there_is_nothing_to_save(root):
    assert root.get(address("layer", "export") + "?format=yaml").status_code == 404


# --- in -------------------------------------------------------------------------------------------


def test_an_import_shows_what_would_change_and_then_does_it(root):
    make_rule(make_layer("old"))
    page = root.post(IMPORT, upload(write(document(("new", DENY)), as_yaml=True)))
    shown = text_of(page)
    assert "Nothing is imported yet" in shown
    assert "1 added, 1 removed, 0 changed, 0 moved" in shown
    assert "with its 1 rule" in shown
    assert "tools named <code>rm_*</code>" in shown
    assert live_version().number == 2
    done = root.post(IMPORT, confirm(page), follow=True)
    assert done.redirect_chain[0][0] == address("layer")
    said = "Imported 1 layer: 1 added, 1 removed, 0 changed, 0 moved. Version 3 is live."
    assert said in text_of(done)
    assert Layer.objects.get().name == "new"
    assert Record.objects.newest_first()[0].actor_label == "root"


def test_the_preview_says_rules_before_and_after(root):
    layer = make_layer("house rules", description="first")
    make_rule(layer, id="wider", match={"name": "a"})
    make_rule(layer, id="told", match={"name": "b"})
    make_rule(layer, id="gone", match={"name": "c"})
    make_rule(layer, id="seen", match={"name": "d"})
    sent = policies.export()
    (entry,) = sent["layers"]
    wider, told, _, seen = entry["policy"]["rules"]
    wider["match"], told["reason"] = {"name": ["a", "z"]}, "because"
    entry["policy"]["rules"] = [told, wider, {"id": "more", **DENY}, seen]
    entry["settings"] |= {"description": "second", "rules": {"seen": {"observe": True}}}
    page = " ".join(text_of(root.post(IMPORT, paste(sent))).split())
    assert "<code>description</code>: <code>&quot;first&quot;</code> → " in page
    assert 'tools named <code>a</code> or <ins class="tp-allow"><code>z</code></ins>' in page
    assert "<code>match</code>:" not in page  # the sentences say it
    assert '<code>reason</code>: <span class="tp-sub">nothing</span> → ' in page
    assert "from place" in page
    assert "Would deny" in page
    assert '<del class="tp-deny">tools named <code>c</code></del>' in page
    assert "tightens" in page
    assert "only tightens" not in page


def test_added_layers_leave_the_others_and_take_the_place_that_is_said(root):
    make_layer("there")
    sent = upload('[{"rules": []}]', "coders.json", mode="add", scope="agent", target="a\nb")
    root.post(IMPORT, confirm(root.post(IMPORT, sent)))
    layer = Layer.objects.get(name="coders")
    assert (layer.scope, layer.target) == ("agent", ["a", "b"])
    sent = paste([{"match": {"name": "*"}, "mode": "ask"}], mode="add", name="asks")
    root.post(IMPORT, confirm(root.post(IMPORT, sent)))
    sent = paste("---\ntoolPreferences: {mail: off}\n---", "prompt", mode="add")
    root.post(IMPORT, confirm(root.post(IMPORT, sent)))
    assert {row.name for row in Layer.objects.all()} == {"there", "coders", "asks", "imported"}


def test_what_is_so_already_is_said_and_not_offered(root):
    make_layer()
    page = text_of(root.post(IMPORT, paste(policies.export())))
    assert "nothing would change" in page
    assert "No difference" in page
    assert ">Import</button>" not in page


def test_a_policy_that_changed_after_the_preview_is_shown_anew(root):
    make_layer("old")
    first = root.post(IMPORT, paste(document(("new",))))
    make_layer("meanwhile")
    second = root.post(IMPORT, confirm(first))
    shown = text_of(second)
    assert "Somebody changed the policy meanwhile." in shown
    assert "1 added, 2 removed" in shown
    assert live_version().number == 2
    assert root.post(IMPORT, confirm(second))["Location"] == address("layer")
    assert [row.name for row in Layer.objects.all()] == ["new"]


def test_what_is_held_is_imported_once_and_only_by_who_sent_it(root):
    page = root.post(IMPORT, paste(document(("new",))))
    other = signed_in(staff("ada", groups=("author",)))
    for client, names in ((other, []), (root, ["new"]), (root, ["new"])):
        client.post(IMPORT, confirm(page))
        assert [row.name for row in Layer.objects.all()] == names
    assert live_version().number == 1


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (paste("{"), {"text": "Not JSON"}),
        (paste(""), {"file": "Choose a file, or paste the policy."}),
        (paste("[]", ""), {"syntax": "Say how the pasted text is written."}),
        (paste("[]", "xml"), {"syntax": "Select a valid choice"}),
        (paste("[]", mode="all"), {"mode": "Select a valid choice"}),
        (upload("[]", "policy.txt"), {"syntax": "none of the endings .json, .yaml"}),
        (upload(b"\xff"), {"file": "no UTF-8"}),
        (upload("- name: a\n  name: b\n"), {"file": "stands twice (line 2, at /0/name)"}),
        (upload("- nmae: a"), {"file": "cut off"}),
        (paste([{"nmae": "a"}]), {"text": "(at /0/nmae)"}),
        (paste([{}], scope="agent"), {"target": "Say for which ones"}),
        (paste([{}], target="x"), {"target": "Say above what these name"}),
        (paste([{}], scope="agent", target="x" * 1_025), {"text": "longer than 1024"}),
        (paste(document(("a",)), name="x"), {"text": "names scope, target and names"}),
        (paste([{"name": "there"}], mode="add"), {"text": "has a layer `there` already"}),
    ],
)
def test_a_fault_stands_on_its_field_and_what_was_typed_stays(root, sent, found):
    make_layer("there")
    response = root.post(IMPORT, sent)
    told = errors(response)
    assert told.keys() == found.keys()
    for name, words in found.items():
        assert words in told[name][0]
    assert "Nothing was imported." in text_of(response)
    form = response.context["form"]
    assert {one: form[one].value() for one in PLAIN} == {one: sent[one] for one in PLAIN}
    assert live_version().number == 1


def test_who_may_not_change_the_baseline_cannot_import_it_away(baseline):
    author = signed_in(staff("ada", groups=("author",)))
    response = author.post(IMPORT, paste(document(("new",))))
    assert "change_baseline" in errors(response)["text"][0]
    assert Layer.objects.count() == 3


def test_of_very_much_the_beginning_is_shown_and_the_rest_counted(root, monkeypatch):
    monkeypatch.setattr(policy_changes, "MOST_CHANGES", 4)
    monkeypatch.setattr(policy_changes, "MOST_LAYERS", 2)
    monkeypatch.setattr(policy_changes, "MOST_RULES", 3)
    layers = [(f"layer {n}", *[DENY] * 5) for n in range(5)]
    page = text_of(root.post(IMPORT, paste(document(*layers))))
    assert "5 added" in page
    assert "and 1 more</li>" in page
    assert page.count("with its 5 rules") == 4
    assert page.count("and 2 more rules</li>") == 2


def test_the_preview_of_ten_thousand_rules_is_a_page_for_people(root):
    layers = [(f"layer {n}", *[DENY] * 100) for n in range(100)]
    page = root.post(IMPORT, paste(document(*layers)))
    assert "100 added" in text_of(page)
    assert len(page.content) < 200_000


@pytest.mark.parametrize("seed", range(8))
def test_whatever_a_policy_says_can_be_shown(root, seed):
    for number in (seed, seed + 1):
        written = documents(Choices(number * 977_777, stamina=8))
        for place, layer in enumerate(written["layers"]):
            layer["position"] = place
        page = root.post(IMPORT, paste(written))
        assert "Nothing is imported yet" in text_of(page)
        assert root.post(IMPORT, confirm(page)).status_code == 302
    text_of(root.get(address("layer")))


def test_pasted_json_is_known_by_itself(root):
    page = root.post(IMPORT, paste(json.dumps(document(("a", DENY))), ""))
    root.post(IMPORT, confirm(page))
    assert Layer.objects.get().name == "a"


@pytest.mark.parametrize("text", ["[]", "{}", "{a: b}", "[" * 100_000, "{", "layers: []\n", "---"])
def test_what_may_be_written_in_more_ways_is_asked_for(root, text):
    assert "Say how the pasted text" in errors(root.post(IMPORT, paste(text, "")))["syntax"][0]


# --- back from the second step -------------------------------------------------------------------


def test_back_from_the_preview_the_form_is_as_it_was_sent(root):
    place = {"mode": "add", "scope": "agent", "target": "coder\nsupport-*", "name": "chat"}
    text = json.dumps([{"rules": [DENY]}])
    page = root.post(IMPORT, paste(text, **place))
    back = root.post(IMPORT, {**confirm(page), "again": "1"}).context["form"]
    assert back["text"].value() == f"{text}\n"
    shown = {name: back[name].value() for name in ("mode", "scope", "name", "syntax")}
    assert shown == {"mode": "add", "scope": "agent", "name": "chat", "syntax": "json"}
    assert back["target"].value() == "coder\nsupport-*"
    again = root.post(IMPORT, paste(back["text"].value(), **place))
    root.post(IMPORT, confirm(again))
    assert Layer.objects.get().target == ["coder", "support-*"]


def test_back_from_the_preview_of_a_file_only_the_file_is_chosen_anew(root):
    page = root.post(IMPORT, upload(json.dumps(document(("a", DENY))), "x.json"))
    back = root.post(IMPORT, {**confirm(page), "again": "1"}).context["form"]
    assert (back["text"].value(), back["mode"].value()) == ("", "replace")


def test_back_with_what_is_held_no_longer_the_form_is_empty(root):
    back = root.post(IMPORT, {"held": "x" * 32, "again": "1"}).context["form"]
    assert back["text"].value() in (None, "")
