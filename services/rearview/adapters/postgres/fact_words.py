"""The words of facts in PostgreSQL."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.consequences import bump_epoch, enqueue_merge
from rearview.adapters.postgres.database import Connection, Database, dict_rows
from rearview.adapters.postgres.event_rows import event_of
from rearview.adapters.postgres.facts import added_by, enqueue_summaries, lock_attributes
from rearview.adapters.postgres.memory_rows import SQL as MEMORY_SQL
from rearview.adapters.postgres.memory_rows import not_hot, read_memories, replace_memory
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.search_units import SearchUnits
from rearview.adapters.postgres.unit_erasure import erase_units
from rearview.domain.errors import Conflict
from rearview.domain.event import Event
from rearview.domain.fact import Stance
from rearview.domain.keyword_bag import count_units
from rearview.domain.memory import NEUTRAL, Fact, Memory, MemoryState, Tier
from rearview.domain.principal import Scope
from rearview.domain.text import Intent
from rearview.ports.fact_words import StatingTurn, WordedFact
from rearview.ports.forgetting import NotHot
from rearview.ports.stated_facts import StatedFact

_SQL = load_queries("fact_words")
MOST_SOURCES = 16
"""So many of the turns, and of the memories, that state a fact are looked at."""


class PostgresFactWords:
    """The `FactWords` port over the tables of one generation."""

    def __init__(self, database: Database, units: SearchUnits) -> None:
        self._database = database
        self._units = units

    async def read(self, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> WordedFact | None:
        """Return a fact and what states it; see `FactWords.read`."""
        place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id}
        async with self._database.transaction(tenant_id) as connection:
            named = await (await connection.execute(_SQL["namespace_name"], place)).fetchone()
            fact = (await read_memories(connection, tenant_id, namespace_id, [memory_id])).get(memory_id)
            if named is None or fact is None or fact.fact is None or fact.state is MemoryState.TOMBSTONED:
                return None
            turns = []
            for session_id, turn in (await _turns_stating(connection, place, [memory_id]))[memory_id]:
                before = await dict_rows(
                    connection,
                    _SQL["turns_before"],
                    {**place, "session_id": session_id, "sequence": turn.sequence},
                )
                earlier = tuple(reversed([event_of(row) for row in await before.fetchall()]))
                turns.append(StatingTurn(session_id, turn, earlier))
            memories = (await _memories_stating(connection, place, [memory_id]))[memory_id]
        return WordedFact(named[0], fact, tuple(turns), tuple(memories))

    async def replace(
        self, tenant_id: UUID, namespace_id: UUID, before: Memory, stated: StatedFact, *, now: datetime
    ) -> None:
        """Give a fact other words; see `FactWords.replace`."""
        memory_id, fact = before.memory_id, stated.memory.fact or Fact("", "", "")
        place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_ids": [memory_id]}
        async with self._database.transaction(tenant_id) as connection:
            await lock_attributes(connection, tenant_id, namespace_id, [(fact.subject, fact.attribute)])
            row = await (await connection.execute(MEMORY_SQL["lock"], place)).fetchone()
            if row is None or row[1:] != (before.version, before.state):
                raise Conflict("the fact changed while it was stated anew", retry_after_seconds=1.0)
            after = _in_words_of(before, stated.memory, now)
            await _write(connection, place, after, stated.value.told_at, stated.value.source_id)
            await erase_units(connection, tenant_id, namespace_id, memory_ids=[memory_id])
            bags = (stated.bag,) if stated.bag else ()
            if stated.unit is not None:
                await self._units.insert(connection, tenant_id, namespace_id, [stated.unit], now)
                await self._units.restore(connection, tenant_id, namespace_id, [memory_id])
                await enqueue_merge(connection, tenant_id, namespace_id, None)
            grown = len(after.content.encode()) - len(before.content.encode())
            delta = replace(added_by([stated], bags), memories=0, size_bytes=grown)
            await self._units.count(connection, tenant_id, namespace_id, delta, count_units(bags))
            await enqueue_summaries(connection, tenant_id, namespace_id, [memory_id])
            await bump_epoch(connection, tenant_id, namespace_id, breaking=True)


async def refuse_unless_hot(connection: Connection, scope: Scope, fact_ids: Collection[UUID]) -> None:
    """Check that facts can be worded anew: that words and units are where those of hot memories are.

    Raises:
        NotHot: these are elsewhere.
    """
    if not fact_ids:
        return
    if elsewhere := await not_hot(connection, scope.tenant_id, scope.namespace_id, fact_ids):
        raise NotHot(tuple(elsewhere))


async def take_words(connection: Connection, scope: Scope, fact_ids: Collection[UUID], now: datetime) -> int:
    """Give facts whose words are forgotten by now all that the first turn or memory says that states them still.

    Their search units go: they are found again once they are stated anew. Returns by how many bytes they shrank.

    Raises:
        NotHot: these memories state them and are cold.
    """
    if not fact_ids:
        return 0
    place = {**_place(scope), "now": now}
    facts = await read_memories(connection, scope.tenant_id, scope.namespace_id, fact_ids)
    turns = await _turns_stating(connection, place, fact_ids)
    memories = await _memories_stating(connection, place, fact_ids)
    if cold := {one.memory_id for stating in memories.values() for one in stating if one.tier is Tier.COLD}:
        raise NotHot(tuple(sorted(cold)))
    shrunk = 0
    for memory_id, before in sorted(facts.items()):
        said = [(turn.event_id, _as_said(before, turn, session_id)) for session_id, turn in turns[memory_id]]
        said += [(memory.memory_id, replace(memory, fact=_unsaid(before))) for memory in memories[memory_id]]
        source_id, words = min(said, key=lambda one: one[1].occurred_at)
        after = replace(_in_words_of(before, words, now), occurred_until=max(one.occurred_at for _, one in said))
        await _write(connection, place, after, words.occurred_at, source_id)
        shrunk += len(before.content.encode()) - len(after.content.encode())
    await erase_units(connection, scope.tenant_id, scope.namespace_id, memory_ids=sorted(facts))
    return shrunk


def _in_words_of(fact: Memory, words: Memory, now: datetime) -> Memory:
    """Return a fact as another memory words it: what it claims, how it stands and what was set by hand stay."""
    starts_at = words.valid_from or words.occurred_at
    return replace(
        fact,
        content=words.content,
        entities=words.entities,
        intent=words.intent,
        sentiment=words.sentiment,
        origin=words.origin,
        trust=words.trust,
        occurred_at=words.occurred_at,
        valid_from=min(starts_at, fact.valid_to) if fact.valid_to else starts_at,
        session_id=words.session_id,
        languages=words.languages,
        redactions=words.redactions,
        fact=words.fact,
        updated_at=now,
    )


def _as_said(fact: Memory, turn: Event, session_id: str) -> Memory:
    """Return a fact as all that a turn says."""
    text = turn.searchable_text
    content = f"{turn.speaker}: {text}" if turn.speaker else text
    return replace(
        fact,
        content=content,
        entities=tuple(entity for entity in fact.entities if entity.text in content),
        intent=Intent.OTHER,
        sentiment=NEUTRAL,
        occurred_at=turn.occurred_at,
        valid_from=None,
        session_id=session_id,
        redactions=turn.redactions,
        fact=_unsaid(fact),
    )


def _unsaid(memory: Memory) -> Fact | None:
    """Return what a fact claims without the words in which it was said: all that states it has the key in common."""
    fact = memory.fact
    return replace(fact, value=fact.value_key, stance=Stance.STANDING.value, replaces="", note="") if fact else None


async def _write(
    connection: Connection, place: Mapping[str, Any], after: Memory, told_at: datetime, source_id: UUID
) -> None:
    fact = after.fact or Fact("", "", "")
    record = {
        "memory_id": after.memory_id,
        "session_id": after.session_id,
        "value": fact.value,
        "unit": fact.unit,
        "stance": fact.stance,
        "category": fact.category,
        "replaces": fact.replaces,
        "source_id": source_id,
        "told_at": told_at,
        "intent": after.intent.value,
        "valence": after.sentiment.valence,
        "intensity": after.sentiment.intensity,
        "extractor": fact.extractor,
        "prompt_version": fact.prompt_version,
        "note": fact.note,
    }
    await replace_memory(connection, place["tenant_id"], place["namespace_id"], after)
    await connection.execute(_SQL["reword_facts"], {**place, "facts": as_records([record])})


async def _turns_stating(
    connection: Connection, place: Mapping[str, Any], fact_ids: Collection[UUID]
) -> Mapping[UUID, list[tuple[str, Event]]]:
    found: dict[UUID, list[tuple[str, Event]]] = defaultdict(list)
    wanted = {**place, "memory_ids": list(fact_ids), "limit": MOST_SOURCES}
    for row in await (await dict_rows(connection, _SQL["turns_stating"], wanted)).fetchall():
        found[row["memory_id"]].append((row["session_id"], event_of(row)))
    return found


async def _memories_stating(
    connection: Connection, place: Mapping[str, Any], fact_ids: Collection[UUID]
) -> Mapping[UUID, list[Memory]]:
    wanted = {**place, "memory_ids": list(fact_ids), "limit": MOST_SOURCES}
    rows = await (await connection.execute(_SQL["memories_stating"], wanted)).fetchall()
    sources = await read_memories(connection, place["tenant_id"], place["namespace_id"], {row[1] for row in rows})
    found: dict[UUID, list[Memory]] = defaultdict(list)
    for memory_id, source_id in rows:
        if source_id in sources:
            found[memory_id].append(sources[source_id])
    return found


def _place(scope: Scope) -> dict[str, Any]:
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}
