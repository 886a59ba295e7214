"""Tags and groups of many tools at once, laid over what they declare (SPEC §8)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from toolpolicy.engine.declarations import effective_subject
from toolpolicy.engine.faults import Fault, Faults, printable, quantity
from toolpolicy.engine.values import Subject
from toolpolicy.models import Tool
from toolpolicy.services._publishing import Author
from toolpolicy.services._registry_records import Change, settle
from toolpolicy.services._registry_rows import expect_version
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.registry_store import entry_of, lock_state

AT_ONCE = 500
LONGEST = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Tags to add and to take away, and the group to set: None leaves it, "" makes it unknown."""

    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    group: str | None = None

    def check(self) -> None:
        """Raise `InvalidInput` for what no label can be."""
        faults = [
            Fault("/remove", f"`{tag}` is added and taken away", "contradiction")
            for tag in self.add
            if tag in self.remove
        ]
        named = [("/add", tag) for tag in self.add]
        named += [("/group", self.group)] if self.group else []
        for pointer, text in named:
            if not 0 < len(text) <= LONGEST or printable(text) != text:
                message = f"1 to {LONGEST} characters, and no characters that cannot be seen"
                faults.append(Fault(pointer, message, "label"))
        if faults:
            raise InvalidInput(faults)

    def laid_over(self, tool: Tool) -> dict[str, Any]:
        """Return the tool's overrides with these labels; tags keep their order."""
        subject = subject_of(tool, tool.overrides)
        laid = dict(tool.overrides)
        kept = [tag for tag in subject.tags if tag not in self.remove]
        tags = list(dict.fromkeys([*kept, *self.add]))
        if tags != list(subject.tags):
            laid["tags"] = tags
        if self.group is not None and (self.group or None) != subject.group:
            laid["group"] = self.group or None
        return laid


def subject_of(tool: Tool, overrides: Mapping[str, Any]) -> Subject:
    """Return what a tool is judged as under these overrides. Raises `InvalidInput`."""
    try:
        return effective_subject(
            json.loads(tool.current.text), trusted=tool.family.trusted, overrides=overrides
        )
    except Faults as refused:
        raise InvalidInput(refused.faults) from None


@transaction.atomic
def label_tools(
    *, actor: Actor, tools: Mapping[int, int], labels: Labels, origin: Origin = NOWHERE
) -> list[Tool]:
    """Tag and group tools (id: the version that was seen), all or none; return those that changed.

    One snapshot and one record, however many. Raises `InvalidInput` (pointers `/add`, `/remove`,
    `/group`, and "" for too many tools), and `Stale`.
    """
    if len(tools) > AT_ONCE:
        raise InvalidInput([Fault("", f"at most {AT_ONCE} tools at once", "too_many")])
    labels.check()
    state = lock_state()
    rows = Tool.objects.select_related("family", "current").order_by("family__name", "name")
    changed, told = [], []
    for tool in rows.filter(pk__in=tools):
        expect_version(tool, tools[tool.pk])
        before, laid = entry_of(tool), labels.laid_over(tool)
        if laid == tool.overrides:
            continue
        subject_of(tool, laid)
        tool.overrides, tool.version = laid, tool.version + 1
        changed.append(tool)
        told.append({"before": before, "after": entry_of(tool)})
    if changed:
        Tool.objects.bulk_update(changed, ("overrides", "version"))
        change = Change(action="label_tools", summary=_summary(changed, labels), family="")
        settle(state, Author(actor=actor, origin=origin), change, {"tools": told})
    return changed


def _summary(tools: Sequence[Tool], labels: Labels) -> str:
    done = [f"tagged with `{tag}`" for tag in labels.add]
    done += [f"untagged `{tag}`" for tag in labels.remove]
    if labels.group is not None:
        done.append(f"grouped as `{labels.group}`" if labels.group else "taken out of their group")
    return f"{', '.join(done)}: {quantity(len(tools), 'tool')}"
