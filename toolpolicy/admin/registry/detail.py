"""A tool's page beside its form: findings, what touches it, what a call meets, what it declared."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from toolpolicy.admin import marks
from toolpolicy.admin.registry.changes import shown_each
from toolpolicy.admin.registry.listing import calls_of
from toolpolicy.engine.sentences import Sentence, sentence
from toolpolicy.engine.values import Rule
from toolpolicy.models import Rule as RuleRow
from toolpolicy.models import Tool
from toolpolicy.services import lint, registry, seen
from toolpolicy.services.errors import NotFound
from toolpolicy.services.matrix import Cell, Matrix
from toolpolicy.services.touching import Touch, Touching, touching

if TYPE_CHECKING:
    from toolpolicy.services.registry import Declared

MOST_RULES: Final = 50
MOST_CONTEXTS: Final = 12


@dataclass(frozen=True)
class RuleLine:
    """One rule that touches the tool; `pk` leads to its page, None where the row is gone."""

    touch: Touch
    pk: int | None

    @property
    def pill(self) -> SafeString:
        """What it does, or would do."""
        rule = self.touch.rule
        effect = rule.effect if isinstance(rule, Rule) else rule.mode
        observing = rule.settings.observe or self.touch.layer.settings.observe
        return marks.effect_pill(str(effect), observing=observing)

    @property
    def name(self) -> str:
        """Its id, or its place where it has none."""
        return self.touch.rule.id or f"#{self.touch.number}"

    @property
    def sentence(self) -> Sentence:
        """It in words."""
        return sentence(self.touch.rule)


class ToolDetail:
    """What the page shows to whoever asks; what they may not see is None."""

    def __init__(self, request: HttpRequest, tool: Tool) -> None:
        may = request.user.has_perm
        self.tool = tool
        self.findings = lint.findings().by_tool(tool.family.name, tool.name)
        self.rules: list[RuleLine] | None = None
        self.cells: list[tuple[str, Cell]] | None = None
        self.calls: int | None = None
        if may("toolpolicy.view_rule"):
            touched = touching()
            self.touches = touched.count(tool.family.name, tool.name)
            self.rules = list(_lines(touched, tool))
        if may("toolpolicy.view_layer"):
            self.cells = _cells(tool)
        if may("toolpolicy.view_ruleusage"):
            self.calls = calls_of([tool])[tool.pk]
        self.declarations: list[tuple[Declared, SafeString]] = []
        if may("toolpolicy.view_tooldeclaration"):
            found = registry.declarations_of(tool)
            self.declarations = [(one, shown_each(one.changes or ())) for one in found]

    @property
    def more_rules(self) -> int:
        """How many rules are not shown."""
        return self.touches - len(self.rules or ())


def _lines(touched: Touching, tool: Tool) -> Iterator[RuleLine]:
    """Yield the first rules that touch a tool, with where their pages are: one query."""
    found: list[Touch] = []
    for touch in touched.rules(tool.family.name, tool.name):
        if len(found) == MOST_RULES:
            break
        found.append(touch)
    ids = {touch.rule.id for touch in found}
    rows = RuleRow.objects.filter(rule_id__in=ids).values_list("layer__name", "rule_id", "pk")
    pages: dict[tuple[str | None, str | None], int] = {(at, rule): pk for at, rule, pk in rows}
    for touch in found:
        yield RuleLine(touch, pages.get((touch.layer.name, touch.rule.id)))


def _cells(tool: Tool) -> list[tuple[str, Cell]] | None:
    """Return what a call meets from each agent and channel that was seen; None without policy."""
    entry = registry.live().resolve(tool.name, tool.family.name).entry
    contexts = list(_contexts())
    try:
        matrix = Matrix.of(now=timezone.now())
    except NotFound:
        return None
    if entry is None:
        return None
    columns = matrix.columns([entry], [context for _, context in contexts])
    return [(words, cells[0]) for (words, _), cells in zip(contexts, columns, strict=True)]


def _contexts() -> Iterator[tuple[str, dict[str, str]]]:
    yield gettext("nobody in particular"), {}
    for key, said in (
        ("agent", gettext("agent %(name)s")),
        ("channel", gettext("channel %(name)s")),
    ):
        for value in seen.values(key)[:MOST_CONTEXTS]:
            yield said % {"name": value}, {key: value}


def context_of(request: HttpRequest, tool: Tool | None) -> dict[str, Any]:
    """Return what the page's template gets."""
    return {} if tool is None else {"detail": ToolDetail(request, tool)}
