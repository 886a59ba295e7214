"""The page of the simulator, and how an answer is asked for, kept and shown again.

Asking is a POST, because every answer is recorded, a simulated one too. It leads to an address
that holds the question and the answer's record: whoever opens that reads what was answered, and
asks nothing. A question alone, from another page or from somebody else, fills in the form.
"""

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import by
from toolpolicy.admin.faults import sentence
from toolpolicy.admin.simulator.forms import FORM, JSON, MOST_TOOLS, QuestionForm
from toolpolicy.admin.simulator.links import (
    LONGEST,
    Link,
    Wire,
    link_of,
    query_of,
    read_link,
    wire_of,
)
from toolpolicy.admin.tracing.answers import AnswerView
from toolpolicy.admin.tracing.links import rule_address
from toolpolicy.admin.words import Words, filled
from toolpolicy.engine.faults import Faults, said
from toolpolicy.engine.globs import same_text
from toolpolicy.engine.questions import Question, parse_question
from toolpolicy.engine.registry import Entry, Registry
from toolpolicy.models import MaskedValue, Record
from toolpolicy.services import decisions, payloads, registry, seen
from toolpolicy.services.decisions.recording import asked_document
from toolpolicy.services.errors import NotFound, ServiceError
from toolpolicy.services.live import policy_of

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite

NAME: Final = "toolpolicy_simulator"
SIMULATE: Final = "toolpolicy.simulate"
READS: Final = ("toolpolicy.view_record", "toolpolicy.view_recordbody")
LOOKED: Final = "opened in the simulator by its id"
MOST_VALUES: Final = 50
TOO_LONG: Final = _("This address is longer than %(most)s characters, so it was not read.")
NOT_YOURS: Final = _(
    "This address names an answer without its question. Only who asked may open it so, and who "
    "may read the text of records."
)
OTHERWISE: Final = _(
    "This address names an answer to another question, so that it is not shown. Simulate, and "
    "this question is answered."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks: the question, the recorded answer to it if there is one, and faults."""

    link: Link
    record: Record | None = None
    question: Question | None = None
    faults: tuple[Words, ...] = ()


def may_simulate(request: HttpRequest) -> bool:
    """Tell whether the person may ask the simulator."""
    return request.user.has_perm(SIMULATE)


def urls(site: "AdminSite") -> list[URLPattern]:
    """Return the address of the simulator."""

    def view(request: HttpRequest) -> HttpResponse:
        if not may_simulate(request):
            raise PermissionDenied
        if request.method == "POST":
            return _posted(site, request)
        asked = _asked(request)
        as_json = request.GET.get("as") == JSON
        form = _form(registry.live(), asked.link, as_json=as_json)
        return _shown(site, request, form, asked)

    return [path("simulator/", site.admin_view(view), name=NAME)]


def address_of(link: Link, **more: str) -> str | None:
    """Return the address of a question; None for one that is too long for an address."""
    query = query_of(link, **more)
    return None if query is None else f"{reverse(f'admin:{NAME}')}?{query}"


def opened(site: "AdminSite", request: HttpRequest, question: Wire) -> HttpResponse:
    """Return the page with a question filled in, without an address that holds it."""
    link = link_of(question)
    return _shown(site, request, _form(registry.live(), link), Asked(link=link))


# --- an address -----------------------------------------------------------------------------------


def _asked(request: HttpRequest) -> Asked:
    """Read an address. Nothing is judged: an answer is read from its record."""
    if len(request.META.get("QUERY_STRING", "")) > LONGEST:
        return Asked(link={}, faults=(filled(TOO_LONG, most=f"{LONGEST:,}"),))
    link = read_link(request.GET.dict())
    record = _simulation(request.GET.get("answer", ""))
    if not link:
        return Asked(link={}) if record is None else _told_by(request, record)
    return _told(link, record)


def _told(link: Link, record: Record | None) -> Asked:
    """Read a question, and its answer where the record is of this question."""
    try:
        question = parse_question(wire_of(link))
    except Faults as refused:
        if not {"tool", "subject"} & link.keys():
            return Asked(link=link)
        return Asked(link=link, faults=tuple(sentence(fault) for fault in refused.faults))
    if record is None or _is_of(record, question):
        return Asked(link=link, record=record, question=question)
    return Asked(link=link, faults=(OTHERWISE,))


def _told_by(request: HttpRequest, record: Record) -> Asked:
    """Read a question from its answer: for who asked it, and who may read any record's payload.

    Where the address holds the question too, whoever has it knows the question already; and so does
    who asked it, so that only the others' look is recorded.
    """
    asker = json.loads(record.body.text)["asker"]
    if asker.get("user") == str(request.user.pk):
        payload = payloads.payload_of(record)
    elif request.user.has_perms(READS):
        payload = payloads.look(**by(request), record=record, why=LOOKED)
    else:
        return Asked(link={}, faults=(NOT_YOURS,))
    if payload.missing:
        told = said(payloads.ValuesMissing(payload.missing).faults)
        return Asked(link={}, record=record, faults=(told,))
    question = decisions.asked_in(payload.body)
    return Asked(link=link_of(payload.body["asked"]), record=record, question=question)


def _simulation(uid: str) -> Record | None:
    try:
        return decisions.simulated(UUID(uid))
    except ValueError:
        return None


def _is_of(record: Record, question: Question) -> bool:
    """Tell whether a record is of this question; its own values prove what the text masks."""
    like = {"asked": asked_document(question), "context": dict(question.context)}
    try:
        recorded = decisions.question_of(record, like)
    except payloads.ValuesMissing:
        return False
    return replace(recorded, dry_run=False) == question


# --- asking ---------------------------------------------------------------------------------------


def _posted(site: "AdminSite", request: HttpRequest) -> HttpResponse:
    held = registry.live()
    shown = Link(tool=request.POST.get("shown", ""), family=request.POST.get("shown_family", ""))
    data = request.POST.copy()
    if data.get("tool") != data.get("shown"):
        data["family"] = ""  # it was the other tool's
    form = _form(held, shown, as_json=data.get("as") == JSON, data=data)
    valid = form.is_valid()
    act = data.get("act", "")
    if valid and act in ("choose", FORM, JSON):
        link = form.link()
        return _shown(site, request, _form(held, link, as_json=act == JSON), Asked(link=link))
    if valid and (address := _answered(request, form)):
        return HttpResponseRedirect(f"{address}#h-answer")
    return _shown(site, request, form, Asked(link={}))


def _answered(request: HttpRequest, form: QuestionForm) -> str | None:
    """Have the question answered and recorded; return where the answer is shown."""
    link = form.link()
    try:
        question = parse_question(wire_of(link))
        who = by(request)
        answer = decisions.simulate(asker=who["actor"], question=question, origin=who["origin"])
    except (Faults, ServiceError) as refused:
        form.show(tuple(refused.faults))
        return None
    uid = answer.decision_id
    # Addresses are kept in many places: none holds what records do not show.
    masked = MaskedValue.objects.filter(record__uid=uid).exists()
    whole = None if masked else address_of(link, answer=uid)
    return whole or address_of({}, answer=uid)


# --- the page -------------------------------------------------------------------------------------


def _form(held: Registry, link: Link, **shown: Any) -> QuestionForm:
    entry = _entry(held, link)
    return QuestionForm(offers=seen.offered(MOST_VALUES), entry=entry, link=link, **shown)


def _entry(held: Registry, link: Link) -> Entry | None:
    return held.resolve(link.get("tool", ""), link.get("family") or None).entry


def _shown(
    site: "AdminSite", request: HttpRequest, form: QuestionForm, asked: Asked
) -> HttpResponse:
    held = registry.live()
    name = form["tool"].value() or ""
    found = held.resolve(name, form["family"].value() or None)
    names = sorted({entry.name for entry in held})
    answer = _answer(asked)
    context = {
        **site.each_context(request),
        "title": gettext("Simulator"),
        "form": form,
        "faults": asked.faults,
        "entry": form.entry,
        "names": names[:MOST_TOOLS],
        "names_held": len(names),
        "families": found.families if len(found.families) > 1 else (),
        "like": _like(held, name) if name and not found.families else (),
        "as_json": not form.argument_fields,
        "answer": answer,
        "record": asked.record,
        "rule_url": rule_address(request, answer),
        "link": request.build_absolute_uri() if answer else "",
    }
    return TemplateResponse(request, "admin/toolpolicy/simulator.html", context)


def _like(held: Registry, name: str) -> tuple[str, ...]:
    """Return the registered tools that a name of none may have been meant for."""
    twins = (entry for entry in held if same_text(entry.name, name))
    return tuple(f"{entry.family}/{entry.name}" for entry in twins) or registry.names_like(name)


def _answer(asked: Asked) -> AnswerView | None:
    if asked.record is None:
        return None
    body = json.loads(asked.record.body.text)
    document = body["answer"]
    try:
        policy = policy_of(body["policy"]["digest"])
        explanation = document["explanation"]
        if asked.question is not None:
            explanation = decisions.replay(asked.record, asked.question).explanation
    except NotFound:
        return None
    return AnswerView(document, body["context"], explanation, policy)
