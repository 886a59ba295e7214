"""Charts drawn on the server: SVG without style or script, with a text that says the same."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import Final, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

HOUR: Final = timedelta(hours=1)
# A bar and the gap after it, the drawing's height, and the least height of what is not none.
WIDTH: Final = 27
STEP: Final = 30
HEIGHT: Final = 40
LEAST: Final = 2
# What stands out: at least so many, and so many times the ordinary hour.
MANY: Final = 10
TIMES: Final = 4

Hours = Sequence[tuple[datetime, int]]


class Peak(NamedTuple):
    """A span of hours that stands out: from, until, and how many it had."""

    start: datetime
    end: datetime
    calls: int


def peak_of(hours: Hours) -> Peak | None:
    """Return the span around the busiest hour whose hours all stand out; None when none does.

    >>> start = datetime(2026, 1, 1)
    >>> counts = [1, 2, 1, 0, 61, 38, 2, 1]
    >>> peak = peak_of([(start + HOUR * n, count) for n, count in enumerate(counts)])
    >>> peak.start.hour, peak.end.hour, peak.calls
    (4, 6, 99)
    """
    counts = [count for _, count in hours]
    bar = max(MANY, TIMES * median(counts)) if counts else MANY
    if max(counts, default=0) < bar:
        return None
    first = last = counts.index(max(counts))
    while first > 0 and counts[first - 1] >= bar:
        first -= 1
    while last + 1 < len(counts) and counts[last + 1] >= bar:
        last += 1
    return Peak(hours[first][0], hours[last][0] + HOUR, sum(counts[first : last + 1]))


def said(hours: Hours) -> str:
    """Say a row of hourly counts in words: the ordinary range, and what stands out.

    >>> said([(datetime(2026, 1, 1, hour), count) for hour, count in enumerate([1, 3, 61, 2])])
    '1 to 3 an hour, except 61 between 02:00 and 03:00 UTC'
    """
    peak = peak_of(hours)
    rest = [n for at, n in hours if peak is None or not peak.start <= at < peak.end]
    low, high = min(rest, default=0), max(rest, default=0)
    ordinary = gettext("%(low)s to %(high)s an hour") if low < high else gettext("%(high)s an hour")
    numbers: dict[str, object] = {"low": low, "high": high}
    if peak is None:
        return ordinary % numbers
    numbers |= {"calls": peak.calls, "start": f"{peak.start:%H:%M}", "end": f"{peak.end:%H:%M}"}
    except_for = gettext("%(ordinary)s, except %(calls)s between %(start)s and %(end)s UTC")
    return except_for % {**numbers, "ordinary": ordinary % numbers}


def strip(hours: Hours, *, label: str, tone: str) -> SafeString:
    """Return one bar an hour, on a scale of its own."""
    most = max((count for _, count in hours), default=0)
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"/>',
        (
            (STEP * place + 2, HEIGHT - tall, WIDTH, tall)
            for place, (_, count) in enumerate(hours)
            if (tall := _tall(count, most))
        ),
    )
    return format_html(
        '<svg class="tp-chart tp-{}" viewBox="0 0 {} {}" height="44" preserveAspectRatio="none" '
        'role="img" aria-label="{}"><rect class="axis" y="{}" width="{}" height="1"/>{}</svg>',
        tone,
        STEP * len(hours),
        HEIGHT + 1,
        label,
        HEIGHT,
        STEP * len(hours),
        bars,
    )


def sparkline(days: Sequence[int]) -> SafeString:
    """Return a small chart of the matches of each day; small counts stay visible beside large."""
    top = max(days) or 1
    heights = [max(1, round(17 * count / top)) if count else 1 for count in days]
    path = "".join(f"M{12 * at} {18 - tall}h10v{tall}h-10z" for at, tall in enumerate(heights))
    said = gettext("Matches a day, the last %(count)s days: %(days)s")
    return format_html(
        '<svg class="tp-spark" viewBox="0 0 84 18" role="img" aria-label="{}"><path d="{}"/></svg>',
        said % {"count": len(days), "days": ", ".join(map(str, days))},
        path,
    )


def _tall(count: int, most: int) -> int:
    return max(LEAST, round(count * (HEIGHT - 1) / most)) if count else 0
