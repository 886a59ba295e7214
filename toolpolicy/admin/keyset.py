"""Lists that grow for years, paged by key instead of by number: no count, no offset."""

from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.http import urlencode

if TYPE_CHECKING:
    from django.db.models import QuerySet

MOST_DIGITS: Final = 18
BEFORE, AFTER = "before", "after"


class KeysetList(ChangeList):
    """One page of a list, the highest `key` first. The address says behind which key it begins."""

    key: ClassVar[str] = "pk"
    before: int | None
    after: int | None

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """Return what narrows the list: its place does not."""
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (BEFORE, AFTER)}

    def get_ordering(self, request: HttpRequest, queryset: "QuerySet[Any]") -> list[Any]:
        """Sort by the key, whatever the address says."""
        return [f"-{self.key}"]

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        """Note the place, which a new search leaves behind."""
        found = super().get_queryset(request, exclude_parameters)
        self.read_place(request)
        return found

    def read_place(self, request: HttpRequest) -> None:
        """Read from the address where the page begins."""
        self.before, self.after = (_key(request.GET.get(name, "")) for name in (BEFORE, AFTER))
        self.params = {name: text for name, text in self.params.items() if name in self.narrowing()}

    def narrowing(self) -> dict[str, str]:
        """Return the parameters that every page of the list has."""
        return {name: text for name, text in self.params.items() if name not in (BEFORE, AFTER)}

    def get_results(self, request: HttpRequest) -> None:
        """Read one row more than the page holds: it tells whether there are others."""
        found, size = self.queryset, self.list_per_page
        if self.after is not None:
            rows = list(found.filter(**{f"{self.key}__gt": self.after}).reverse()[: size + 1])
            kept = rows[:size][::-1]
            newer, older = len(rows) > size, True
        else:
            if self.before is not None:
                found = found.filter(**{f"{self.key}__lt": self.before})
            rows = list(found[: size + 1])
            kept = rows[:size]
            newer, older = self.before is not None, len(rows) > size
        self.result_list = kept
        self.result_count = self.full_result_count = len(kept)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False
        self.paginator = None
        self.newer = self._address(AFTER, kept[0]) if newer and kept else ""
        self.older = self._address(BEFORE, kept[-1]) if older and kept else ""

    def _address(self, name: str, row: Any) -> str:
        return f"?{urlencode({**self.narrowing(), name: str(getattr(row, self.key))})}"


def _key(text: str) -> int | None:
    # What has more digits is no key, and more than a database's integer holds.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
