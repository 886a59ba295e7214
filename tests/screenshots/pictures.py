"""The demo with believable counts, served, and a picture of each of its pages."""

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.contrib.auth.models import User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.management import call_command
from django.test.testcases import LiveServerThread
from django.utils import timezone

from tests.admin.browser import WIDTHS, Watched, running_browser
from tests.admin.page_list import pages
from tests.admin.pages import superuser
from toolpolicy.models import Layer, RefusalCount, Rule, RuleUsage, SessionTaint
from toolpolicy.services import clients, freezes, holds, policies, registry
from toolpolicy.services.actors import Actor

THEMES: Final = ("light", "dark")
CALLS: Final = 400
HEIGHT: Final = 900
MOST: Final = 12_000
# How busy it was: the hours before this one, of 10, and the days before this one, of 100.
HOURS: Final = (9, 8, 8, 7, 5, 4, 3, 2, 1, 1, 1, 1, 1, 2, 3, 5, 7, 9, 10, 9, 8, 8, 9)
DAYS: Final = (70, 60, 80, 90, 30, 20)
# An hour with an accident: a tool that is denied far more often than usual.
ACCIDENT: Final = (3, 190, "slack", "mcp__slack__slack_post_message")
DENIED_BY: Final = {"layer": "channel: public", "rule": "nothing-internal"}


def take_all(out: Path, names: list[str]) -> None:
    """Take the pictures of the pages with one of these names in theirs; without names, of all."""
    out.mkdir(parents=True, exist_ok=True)
    call_command("migrate", verbosity=0)
    call_command("setup", stdout=io.StringIO())
    superuser("mira")
    with _served() as server, running_browser() as browser:
        watched = Watched(browser, server)
        watched.sign_in("mira")
        taken = _take(watched, {"home-first-start": "/admin/"}, names, out)
        taken += _take(watched, _filled(), names, out)
        for complaint in watched.complaints:
            sys.stderr.write(f"{complaint}\n")
    sys.stdout.write(f"{taken} pages at {len(WIDTHS)} widths in {len(THEMES)} themes\n")


def _filled() -> Mapping[str, str]:
    """Put the demo in, with a day's traffic; return the pages."""
    actor = Actor.system("demo")
    call_command("demo", traffic=CALLS, stdout=io.StringIO())
    client, _ = clients.create(
        actor=actor,
        values={"name": "helpdesk-prod", "scopes": ["decide", "explain"]},
    )
    stopped = {"kind": "agent", "value": "intern-bot", "reason": "posting loop, ticket 2214"}
    freezes.freeze(actor=actor, values=stopped)
    registry.update_tool(
        actor=actor,
        family="filesystem",
        name="mcp__filesystem__write_file",
        version=1,
        laid={"overrides": {"hints": {"cacheable_approval": True}}},
    )
    _edit_a_rule()
    asked = {"agent": "support-bot", "from": "2026-01-01T00:00:00Z"}
    matter = {"name": "case 2026-118", "reason": "claim of a customer, letter of 3 March"}
    holds.place(actor=actor, values={**matter, "filter": asked})
    _make_past()
    SessionTaint.objects.create(client=client, session="support-bot-03")
    now = _this_hour()
    RefusalCount.objects.create(address="192.0.2.7", minute=now, status=401, count=3)
    return pages()


def _edit_a_rule() -> None:
    """Let a person change a rule, so that its page says who."""
    rule = Rule.objects.filter(layer=Layer.objects.in_order().last()).first()
    assert rule is not None
    policies.update_rule(
        actor=Actor.for_user(User.objects.get(username="mira")),
        rule=rule.pk,
        version=rule.layer.version,
        values={"reason": "agreed with the shop team"},
    )


def _this_hour() -> datetime:
    return timezone.now().replace(minute=0, second=0, microsecond=0)


def _make_past() -> None:
    """Count for the hours and days before now what was counted just now, more or less of it."""
    counted, now = list(RuleUsage.objects.values()), _this_hour()
    busy = {timedelta(hours=ago): part / 10 for ago, part in enumerate(HOURS, 1)}
    busy |= {timedelta(days=ago, hours=1): part / 5 for ago, part in enumerate(DAYS, 1)}
    past = [
        RuleUsage(**{**row, "id": None, "hour": now - ago, "count": count})
        for ago, part in busy.items()
        for row in counted
        if (count := int(row["count"] * part))
    ]
    ago, count, family, tool = ACCIDENT
    at = {"hour": now - timedelta(hours=ago), "outcome": "deny", "family": family, "tool": tool}
    RuleUsage.objects.bulk_create(past)
    for where in ({"layer": "", "rule": ""}, DENIED_BY):
        shard = {**at, **where, "shard": RuleUsage.SHARDS - 1}
        RuleUsage.objects.filter(**shard).delete()
        RuleUsage.objects.create(**shard, count=count)


@contextmanager
def _served() -> Iterator[str]:
    thread = LiveServerThread("localhost", StaticFilesHandler)
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    yield f"http://localhost:{thread.port}"
    thread.terminate()


def _take(watched: Watched, pages: Mapping[str, str], names: list[str], out: Path) -> int:
    found = {
        name: path for name, path in pages.items() if not names or any(one in name for one in names)
    }
    for name, path in found.items():
        watched.open(path)
        for theme in THEMES:
            watched.page.emulate_media(color_scheme=theme)
            for width in WIDTHS:
                # As high as the page: what sticks to the bottom of a window would cover its middle.
                watched.page.set_viewport_size({"width": width, "height": HEIGHT})
                height = max(HEIGHT, watched.page.evaluate("document.documentElement.scrollHeight"))
                watched.page.set_viewport_size({"width": width, "height": min(height, MOST)})
                watched.page.screenshot(path=out / f"{name}-{width}-{theme}.png", full_page=True)
        watched.page.emulate_media(color_scheme="light")
    watched.page.goto("about:blank")  # a page that waits for something would go on by itself
    return len(found)
