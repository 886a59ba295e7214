"""What can be done about a recorded call: ask it again, open it, freeze, make a rule from it."""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from toolpolicy.admin.records.detail import JUDGED, RecordView
from toolpolicy.admin.records.reading import READS_PAYLOADS
from toolpolicy.admin.simulator.pages import may_simulate
from toolpolicy.admin.words import Words
from toolpolicy.models import Freeze
from toolpolicy.models.choices import FreezeKind
from toolpolicy.services import freezes

MAKES_RULES: Final = "toolpolicy.add_rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Something of the call that can be frozen, and where."""

    kind: str
    value: str
    address: str

    @property
    def label(self) -> Words:
        """What kind of thing it is."""
        return FreezeKind(self.kind).label


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """What this person may do about this record; "" or empty for what they may not."""

    rule: str = ""
    today: str = ""
    simulator: str = ""
    stops: tuple[Stop, ...] = ()
    standing: tuple[Freeze, ...] = ()

    def any(self) -> bool:
        """Tell whether there is anything to do."""
        return any((self.rule, self.today, self.simulator, self.stops))


def acts_of(request: HttpRequest, view: RecordView) -> Acts:
    """Return what the person may do about a record. One query at most.

    Whoever may not read what was sent cannot ask it again or make a rule from it: both would tell
    it. Freezing takes only what stands beside the text.
    """
    if view.record.kind not in JUDGED:
        return Acts()
    standing: tuple[Freeze, ...] = ()
    if request.user.has_perm("toolpolicy.view_freeze"):
        standing = tuple(freezes.standing_over(_named(view)))
    acts = Acts(stops=_stops(request, view), standing=standing)
    reads = view.judged and request.user.has_perm(READS_PAYLOADS)
    return _asking(request, view, acts) if reads else acts


def _asking(request: HttpRequest, view: RecordView, acts: Acts) -> Acts:
    """Add where the call is asked again and made a rule of, as far as the person may."""
    rule, today, simulator = (
        reverse(f"admin:toolpolicy_record_{name}", args=(view.record.pk,))
        for name in ("rule", "today", "simulator")
    )
    if request.user.has_perm(MAKES_RULES):
        acts = replace(acts, rule=rule)
    if may_simulate(request):
        acts = replace(acts, today=today, simulator=simulator)
    return acts


def _named(view: RecordView) -> dict[str, str]:
    record = view.record
    named = {
        FreezeKind.AGENT: record.agent,
        FreezeKind.CHANNEL: record.channel,
        FreezeKind.TOOL: record.tool,
        FreezeKind.FAMILY: record.family,
    }
    return {str(kind): value for kind, value in named.items() if value}


def _stops(request: HttpRequest, view: RecordView) -> tuple[Stop, ...]:
    if not request.user.has_perm("toolpolicy.add_freeze"):
        return ()
    add = reverse("admin:toolpolicy_freeze_add")
    return tuple(
        Stop(
            kind=kind,
            value=value,
            address=f"{add}?{urlencode({'kind': kind, 'value': value, 'record': view.record.pk})}",
        )
        for kind, value in _named(view).items()
    )
