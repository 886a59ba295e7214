"""An answer of the simulator, shown again by an address: of which question, and to whom."""

import json
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.urls import reverse

from tests.admin.pages import decide, signed_in, staff, text_of
from tests.admin.simulations import answer_to, ask, protected_push, simulations
from tests.factories import SYSTEM
from tests.registry.samples import imported, named
from toolpolicy.admin.simulator.links import LONGEST, link_of, read_link, wire_of
from toolpolicy.engine.questions import parse_question
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db


@pytest.fixture
def page():
    return reverse("admin:toolpolicy_simulator")


@pytest.fixture
def push(db):
    return protected_push()


def test_no_address_asks_anything_and_the_answer_is_read_from_its_record(root, page, push):
    response = ask(root, page, tool="push", arguments='{"branch": "main"}', agent="coder")
    address = response["Location"].partition("#")[0]
    layer = push.layer
    policies.delete_layer(actor=SYSTEM, layer=layer.pk, version=layer.version)
    for _ in range(2):
        assert "main-is-protected" in text_of(root.get(address))
    bare = f"{page}?answer={parse_qs(urlsplit(address).query)['answer'][0]}"
    shown = root.get(bare)
    assert "main-is-protected" in text_of(shown)
    assert shown.context["form"]["agent"].value() == "coder"
    assert simulations().count() == 1
    text_of(root.get(page, {"tool": "push", "agent": "coder"}))
    assert simulations().count() == 1


def test_an_answer_is_not_shown_beside_another_question(root, page, push):
    response = ask(root, page, tool="push", arguments='{"branch": "main"}')
    address = response["Location"].partition("#")[0].replace("main", "dev")
    shown = text_of(root.get(address))
    assert "names an answer to another question" in shown
    assert "h-answer" not in shown


def test_only_what_a_person_asked_here_is_shown_by_its_id(root, page, push):
    for kind in (False, True):  # a decision, and a simulation of a key or command
        uid = decide("push", arguments={"branch": "main"}, dry_run=kind).decision_id
        assert "h-answer" not in text_of(root.get(page, {"answer": uid}))
    assert "h-answer" not in text_of(root.get(page, {"answer": "x"}))


def test_an_answer_without_its_question_is_for_who_asked_and_who_reads_records(root, page, push):
    response = ask(root, page, tool="push", arguments='{"branch": "main"}')
    uid = parse_qs(urlsplit(response["Location"]).query)["answer"][0]
    reads = ("simulate", "view_record", "view_recordbody")
    for permissions, shown in ((("simulate",), False), (reads, True)):
        client = signed_in(staff(f"p{shown}", permissions=permissions))
        bare = client.get(page, {"answer": uid})
        assert ("h-answer" in text_of(bare)) == shown
        assert bool(bare.context["faults"]) != shown
        whole = client.get(response["Location"].partition("#")[0])
        assert "h-answer" in text_of(whole)


def test_who_may_not_see_rules_and_records_gets_no_link_to_them(page, push):
    client = signed_in(staff("sam", permissions=("simulate",)))
    shown = text_of(answer_to(client, page, tool="push", arguments='{"branch": "main"}'))
    assert "main-is-protected" in shown
    assert "/admin/toolpolicy/" not in shown


@pytest.mark.parametrize("query", ["tool=a%00b", "tool=x&arguments=%7B", "tool=x&surface=dream"])
def test_an_address_that_cannot_be_asked_says_why(root, page, push, query):
    response = root.get(f"{page}?{query}")
    assert response.context["faults"]
    assert "h-answer" not in text_of(response)


def test_an_address_has_a_bound_and_a_long_question_is_shown_by_its_answer_alone(root, page, push):
    long = {"branch": "a" * LONGEST}
    response = ask(root, page, tool="push", arguments=json.dumps(long))
    assert len(response["Location"]) < 200
    shown = root.get(response["Location"].partition("#")[0])
    assert "Allowed" in text_of(shown)
    assert shown.context["form"].link is not None
    refused = root.get(page, {"tool": "push", "arguments": json.dumps(long)})
    assert "was not read" in " ".join(refused.context["faults"])


@pytest.mark.parametrize(
    "question",
    [
        {"surface": "catalog", "tool": {"name": "a", "family": "f"}, "context": {}},
        {
            "surface": "call",
            "tool": {"name": "a"},
            "arguments": None,
            "context": {"agent": "x", "tool": "y", "=&": "z"},
            "targets": [{"tool": {"name": "b"}}],
        },
        {"surface": "search", "subject": {"name": "a"}, "context": {"session": "s"}},
    ],
)
def test_a_question_in_an_address_is_the_same_question(question):
    link = link_of(question)
    again = wire_of(read_link({key: value for key, [value] in parse_qs(urlencode(link)).items()}))
    assert parse_question(again) == parse_question(question)


def test_the_number_of_queries_is_fixed(root, page, push, django_assert_num_queries):
    answered = ask(root, page, tool="push", arguments='{"branch": "main"}')["Location"]
    address = answered.partition("#")[0]
    text_of(root.get(address))  # fills what processes keep
    with django_assert_num_queries(7):
        text_of(root.get(address))
    for number in range(20):
        imported(named(f"t{number}"), family=f"f{number}")
        decide("push", context={f"k{number}": "v"})
    text_of(root.get(address))
    with django_assert_num_queries(7):
        text_of(root.get(address))
