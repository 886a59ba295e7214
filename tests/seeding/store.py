"""Large stores to measure on: real policies, tools and records, written in bulk.

Some thousand questions are asked of the real decision point under the seeded policy. Each of their
records is then written many times over: with ids, times and numbers of its own, and otherwise word
for word what the writer of records wrote. Clocks go forward with ids, as they do in a store that
grew.
"""

import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final
from unittest import mock

from django.db import transaction
from django.utils import timezone

from tests.bench.workload import SEED, TOOLS, Workload, workload
from toolpolicy.audit.writer import leaf_hash
from toolpolicy.engine.questions import Question, parse_question
from toolpolicy.models import Record, RecordBody, RuleUsage
from toolpolicy.services import clients, decisions, policies, registry
from toolpolicy.services.actors import Actor

LAYERS: Final = 10
ASKING: Final = 7
"""Each one of so many rules asks a person."""
ASKED: Final = 2_000
AT_ONCE: Final = 100
BATCH: Final = 2_000
DAYS: Final = 30
SESSIONS: Final = 5_000
OURS: Final = Actor.system("seeding")
RARE: Final = "seldom"
"""The agent, channel and session of one record, the oldest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much to put in. Only the newest records keep their text: the others' time is up."""

    rules: int
    tools: int
    records: int
    texts: int


def seed(size: Size, *, say: Callable[[str], None]) -> None:
    """Fill an empty, migrated database."""
    first = timezone.now() - timedelta(days=DAYS)
    load = workload(size.rules)
    with mock.patch("django.utils.timezone.now", return_value=first):
        _register(load, size.tools)
        say(f"{size.tools:,} tools")
        _publish(load)
        say(f"{size.rules:,} rules")
        asked = _ask(load, size)
    say(f"{len(asked):,} questions asked")
    _multiply(asked, size, first, say)


def _register(load: Workload, most: int) -> None:
    """Import the first tools, family by family."""
    families: dict[str, list[dict[str, Any]]] = {}
    for tool in load.tools[:most]:
        declared = {"name": tool.name, "inputSchema": {"type": "object"}}
        families.setdefault(tool.family or "", []).append(declared)
    for family, tools in families.items():
        registry.import_tools(actor=OURS, document={"tools": tools}, family=family)


def _publish(load: Workload) -> None:
    """Publish the rules in layers that apply everywhere, all in one version."""
    rules = [{**rule, "id": f"r{number}"} for number, rule in enumerate(load.rules)]
    for rule in rules[::ASKING]:
        rule["effect"] = "require_approval"
    entries = [
        {
            **load.document["layers"][0],
            "policy": {"name": f"layer {at}", "default": "allow", "rules": rules[at::LAYERS]},
        }
        for at in range(min(LAYERS, len(rules)))
    ]
    policies.add_layers(actor=OURS, layers=entries, summary="seeded")


def _ask(load: Workload, size: Size) -> list[Record]:
    """Ask questions of the decision point and return their records with texts."""
    chance = random.Random(SEED)  # noqa: S311  (the same store in every run, no secret)
    client, _ = clients.create(actor=OURS, values={"name": "seeded client"})
    asker = Actor.for_client(client)
    started = Record.objects.newest_first().values_list("pk", flat=True)[0]
    asked = min(ASKED, max(1, size.records // 5))
    questions = [_question(load, size, chance, number) for number in range(asked)]
    for at in range(0, asked, AT_ONCE):
        decisions.decide_batch(asker=asker, questions=questions[at : at + AT_ONCE])
    found = Record.objects.filter(pk__gt=started, kind="decision").select_related("body")
    return list(found.order_by("pk"))


def _question(load: Workload, size: Size, chance: random.Random, number: int) -> Question:
    tool = load.tools[min(int(chance.expovariate(6 / size.tools)), min(size.tools, TOOLS) - 1)]
    where = (f"agent-{number % 20}", f"channel-{number % 7}", f"s-{number}")
    context = dict(
        zip(("agent", "channel", "session"), where if number else [RARE] * 3, strict=True)
    )
    asked = {"surface": "call", "tool": {"name": tool.name, "family": tool.family}}
    return parse_question({**asked, "arguments": {"path": f"/{number}/x"}, "context": context})


# --- records -------------------------------------------------------------------------------------


def _multiply(asked: list[Record], size: Size, first: datetime, say: Callable[[str], None]) -> None:
    """Write copies of the records until there are enough, and count them as decisions are."""
    copies = _copies(asked, size, first)
    counts: Counter[tuple[Any, ...]] = Counter()
    done = 0
    while batch := list(islice(copies, BATCH)):
        with transaction.atomic():
            rows = [record for record, _ in batch]
            Record.objects.bulk_create(rows)
            texts = [RecordBody(record=record, text=text) for record, text in batch if text]
            RecordBody.objects.bulk_create(texts)
        counts.update(key for record in rows for key in _usage(record))
        done += len(batch)
        if done % 100_000 == 0:
            say(f"{done:,} records")
    names = ("hour", "layer", "rule", "family", "tool", "outcome")
    usage = (
        RuleUsage(**dict(zip(names, key, strict=True)), shard=RuleUsage.SHARDS - 1, count=count)
        for key, count in counts.items()
    )
    while some := list(islice(usage, BATCH)):
        RuleUsage.objects.bulk_create(some)


def _copies(asked: list[Record], size: Size, first: datetime) -> Iterator[tuple[Record, str]]:
    """Yield new records with their texts; those without one have "" instead."""
    chance = random.Random(SEED)  # noqa: S311  (as above)
    writer = uuid.UUID(int=chance.getrandbits(128)).hex
    step = (timezone.now() - first) / size.records
    common = asked[1:] or asked  # the first one is seldom
    for number in range(1, size.records - len(asked) + 1):
        source, at = chance.choice(common), first + step * number
        uid = uuid.UUID(int=chance.getrandbits(128), version=4)
        session = f"s-{chance.randrange(SESSIONS)}"
        text = _text(source, uid, at, session, (writer, number))
        record = _copy(source)
        record.uid, record.at, record.session = uid, at, session
        record.writer_id, record.writer_n, record.leaf_hash = writer, number, leaf_hash(text)
        yield record, text if number + len(asked) > size.records - size.texts else ""


def _text(
    source: Record, uid: uuid.UUID, at: datetime, session: str, writer: tuple[str, int]
) -> str:
    """Return the text of a copy: the source's, but for what tells decisions apart."""
    moment = at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    then = source.at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    old = f'"writer":{{"id":"{source.writer_id}","n":{source.writer_n}}}'
    text: str = source.body.text
    for before, after in (
        (str(source.uid), str(uid)),
        (then, moment),
        (f'"session":"{source.session}"', f'"session":"{session}"'),
        (old, f'"writer":{{"id":"{writer[0]}","n":{writer[1]}}}'),
    ):
        text = text.replace(before, after)
    return text


def _copy(source: Record) -> Record:
    values = {field.attname: getattr(source, field.attname) for field in _COPIED}
    return Record(**values)


_COPIED: Final = [field for field in Record._meta.concrete_fields if not field.primary_key]


def _usage(record: Record) -> Iterator[tuple[Any, ...]]:
    """Yield what a decision is counted under: itself, and the rule that decided it."""
    hour = record.at.replace(minute=0, second=0, microsecond=0)
    rest = (record.family, record.tool, record.outcome)
    yield (hour, "", "", *rest)
    if record.rule:
        yield (hour, record.layer, record.rule, *rest)
