"""What no two records share, and what leaves none out: ids, and the numbers of each writer."""

from typing import Any, Final

from django.db.models import Count, F, Max, Q

from toolpolicy.audit import gaps
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.models import Leaf, Record

_SEVERAL: Final = 100


def judge(verdict: Verdict) -> None:
    """Judge the ids and numbers of all records, sealed or not."""
    try:
        with reading():
            if _check_writers(verdict):
                _check_doubles(verdict, "writer_id", "writer_n")
            _check_uids(verdict)
    except Unreadable as error:
        verdict.find(Kind.ALTERED, f"the number of a record cannot be read: {error}")


def _check_writers(verdict: Verdict) -> bool:
    """Find numbers that no record has: deleted before they were sealed.

    Tell whether there is a number that several records have.
    """
    own = Record.objects.order_by().values("writer_id")
    told = own.annotate(
        last=Max("writer_n"), different=Count("writer_n", distinct=True), all=Count("pk")
    )
    odd = told.filter(Q(different__lt=F("last")) | Q(different__lt=F("all")))
    doubled = False
    for writer, last, different, count in odd.values_list("writer_id", "last", "different", "all"):
        doubled = doubled or different < count
        for gap in gaps.gaps_of(writer, last) if different < (last or 0) else ():
            message = "records {1} to {2} of the writer {0} are gone".format(*gap)
            verdict.find(Kind.MISSING, message)
    return doubled


def _check_uids(verdict: Verdict) -> None:
    counted = Record.objects.aggregate(all=Count("pk"), different=Count("uid", distinct=True))
    # To count them is much less work than to tell which.
    if counted["different"] < counted["all"]:
        _check_doubles(verdict, "uid")


def _check_doubles(verdict: Verdict, *names: str) -> None:
    doubles = Record.objects.order_by().values(*names).annotate(n=Count("pk")).filter(n__gt=1)
    for double in doubles.values(*names)[:_SEVERAL]:
        said = " ".join(map(str, double.values()))
        verdict.find(Kind.DUPLICATED, f"the record {said} is there twice", seq=_place(double))


def _place(double: dict[str, Any]) -> int | None:
    """Return the number under which a record is sealed that is there twice."""
    rows = Record.objects.filter(**double).values("pk")
    return (
        Leaf.objects.filter(record__in=rows).order_by("seq").values_list("seq", flat=True).first()
    )
