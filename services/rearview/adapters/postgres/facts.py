"""Facts in PostgreSQL: statements become memories, confirmations or history inside the transaction that states them."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.adapters.postgres.consequences import enqueue_summary
from rearview.adapters.postgres.database import Connection, dict_rows
from rearview.adapters.postgres.memory_rows import insert_memories
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.records import as_records
from rearview.adapters.postgres.search_units import NamespaceDelta, SearchUnits
from rearview.domain.consistency import HeldValue, Resolution, confidence, resolve
from rearview.domain.fact import Stance
from rearview.domain.fact_history import LEAST_VALUES
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import Fact, Memory, MemoryState, Trust
from rearview.domain.search_unit import UnitFlag
from rearview.ports.stated_facts import StatedFact

SQL = load_queries("facts")
MOST_KNOWN = 500
"""So many of the newest values of an attribute are looked at for one statement."""

Attribute = tuple[str, str]
"""A subject and its attribute."""


@dataclass(frozen=True, slots=True)
class FactsWritten:
    """What became of statements.

    Attributes:
        superseded: the values that each source superseded, by source.
        changed: whether anything that was known stands otherwise now.
        confirmed: how often known values were stated again, by memory; the caller counts that as uses, with all others.
        added: what the caller is to count, with the keyword bags in `bags`, in one go with all else that it counts:
            counters are locked in order.
    """

    superseded: Mapping[UUID, tuple[UUID, ...]] = field(default_factory=dict)
    added: NamespaceDelta = field(default_factory=NamespaceDelta)
    bags: tuple[KeywordBag, ...] = ()
    changed: bool = False
    confirmed: Mapping[UUID, int] = field(default_factory=dict)

    @property
    def superseded_count(self) -> int:
        """How many values were superseded."""
        return sum(len(values) for values in self.superseded.values())


class FactWriter:
    """Statements about facts; each call runs in the caller's transaction."""

    def __init__(self, units: SearchUnits) -> None:
        self._units = units

    async def write(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, facts: Sequence[StatedFact], now: datetime
    ) -> FactsWritten:
        """Resolve statements in order and write what they lead to.

        Locks their attributes until the transaction ends, so that two writers of one attribute come one after the
        other. Stating the same from the same source again changes nothing.
        """
        if not facts:
            return FactsWritten()
        place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "now": now}
        await lock_attributes(connection, tenant_id, namespace_id, {_attribute_of(fact) for fact in facts})
        known = await self._known(connection, place, facts)
        outcome = _Outcome()
        for fact in facts:
            values = known.setdefault(_attribute_of(fact), {})
            outcome.add(fact, resolve(fact.value, tuple(values.values())), values)
        await self._write_values(connection, place, outcome)
        if unlike := outcome.unlike_their_units:
            await self._units.restore(connection, tenant_id, namespace_id, sorted(unlike))
        if touched := sorted({*outcome.changed, *outcome.stored}):
            await enqueue_summaries(connection, tenant_id, namespace_id, touched)
        made = [fact for fact in outcome.stored.values() if not fact.adopts]
        bags = tuple(fact.bag for fact in made if fact.bag is not None)
        confirmed = Counter(memory_id for memory_id, _ in outcome.links if memory_id not in outcome.stored)
        return FactsWritten(
            outcome.superseded, added_by(made, bags), bags, changed=bool(outcome.changed), confirmed=confirmed
        )

    async def restate(
        self,
        connection: Connection,
        tenant_id: UUID,
        namespace_id: UUID,
        before: Memory,
        fact: StatedFact | None,
        now: datetime,
    ) -> FactsWritten:
        """Make a fact what its new wording states, in the same place among the values of its attribute.

        Of another attribute it counts as told now. Without a statement the memory is a fact no more.
        """
        place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "memory_id": before.memory_id}
        attributes = {(before.fact.subject, before.fact.attribute)} if before.fact else set()
        if fact is not None:
            attributes.add(_attribute_of(fact))
        await lock_attributes(connection, tenant_id, namespace_id, attributes)
        row = await (await connection.execute(SQL["place_of_fact"], place)).fetchone()
        await connection.execute(SQL["undescribe_fact"], place)
        await self._retell(connection, place, before.fact)
        if fact is None or row is None:
            return FactsWritten(changed=True)
        told_at, source_id, said_until = row
        value = replace(fact.value, source_id=source_id or before.memory_id, said_until=said_until)
        if len(attributes) == 1 and told_at is not None:
            value = replace(value, told_at=told_at)
        if before.state is MemoryState.ACTIVE:
            return await self.write(connection, tenant_id, namespace_id, [replace(fact, value=value)], now)
        value = replace(value, state=before.state, valid_to=before.valid_to, superseded_by=before.superseded_by)
        records = as_records([fact_record(fact, value)])
        await connection.execute(SQL["describe_facts"], {**place, "facts": records})
        await enqueue_summaries(connection, tenant_id, namespace_id, [before.memory_id])
        return FactsWritten(changed=True)

    async def _retell(self, connection: Connection, place: Mapping[str, Any], fact: Fact | None) -> None:
        if fact is None or not fact.single_valued:
            return
        of = {**place, "subject": fact.subject, "attribute": fact.attribute, "limit": 1}
        for (memory_id,) in await (await connection.execute(SQL["values_of"], of)).fetchall():
            await enqueue_summary(connection, place["tenant_id"], place["namespace_id"], memory_id)

    async def release(
        self, connection: Connection, tenant_id: UUID, namespace_id: UUID, source_memory_id: UUID, now: datetime
    ) -> None:
        """Take a memory's word back: facts that nothing else states end, others are less sure."""
        place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "now": now}
        cursor = await connection.execute(SQL["facts_of_memory"], {**place, "source_memory_id": source_memory_id})
        attributes = {(subject, attribute) for subject, attribute in await cursor.fetchall()}
        if not attributes:
            return
        await lock_attributes(connection, tenant_id, namespace_id, attributes)
        cursor = await connection.execute(SQL["unlink_source"], {**place, "source_memory_id": source_memory_id})
        released = [row[0] for row in await cursor.fetchall()]
        ended = await connection.execute(SQL["end_unstated"], {**place, "memory_ids": released})
        ended_ids = [row[0] for row in await ended.fetchall()]
        await self._units.restore(connection, tenant_id, namespace_id, ended_ids)
        await recount(connection, tenant_id, namespace_id, set(released) - set(ended_ids), now)

    async def _known(
        self, connection: Connection, place: Mapping[str, Any], facts: Sequence[StatedFact]
    ) -> dict[Attribute, dict[UUID, HeldValue]]:
        statements = as_records(
            {
                "subject": fact.memory.fact.subject,
                "attribute": fact.memory.fact.attribute,
                "value_key": fact.value.value_key,
                "category": fact.value.category,
                "replaces": fact.value.replaces,
                "single_valued": fact.value.single_valued,
            }
            for fact in facts
            if fact.memory.fact
        )
        cursor = await dict_rows(
            connection, SQL["lock_known"], {**place, "statements": statements, "limit": MOST_KNOWN}
        )
        known: dict[Attribute, dict[UUID, HeldValue]] = {}
        for row in await cursor.fetchall():
            key = (row["fact_subject"], row["fact_attribute"])
            known.setdefault(key, {})[row["memory_id"]] = held_value_of(row)
        return known

    async def _write_values(self, connection: Connection, place: Mapping[str, Any], outcome: "_Outcome") -> None:
        tenant_id, namespace_id, now = place["tenant_id"], place["namespace_id"], place["now"]
        # What ceases to be active goes first: the index admits one active value at any moment.
        await change_values(connection, tenant_id, namespace_id, outcome.changed.values(), now)
        made = [fact for fact in outcome.stored.values() if not fact.adopts]
        if made:
            await insert_memories(
                connection, tenant_id, namespace_id, self._units.generation, [fact.memory for fact in made]
            )
            await self._units.insert(
                connection, tenant_id, namespace_id, [fact.unit for fact in made if fact.unit is not None], now
            )
        if outcome.stored:
            records = [fact_record(fact, outcome.values[memory_id]) for memory_id, fact in outcome.stored.items()]
            await connection.execute(SQL["describe_facts"], {**place, "facts": as_records(records)})
        await _link(connection, place, outcome.links)
        await recount(connection, tenant_id, namespace_id, outcome.not_as_sure_as_drafted, now)


class _Outcome:
    """What a batch of statements leads to; later ones see what earlier ones did."""

    def __init__(self) -> None:
        self.superseded: dict[UUID, tuple[UUID, ...]] = {}
        self.changed: dict[UUID, HeldValue] = {}
        self.stored: dict[UUID, StatedFact] = {}
        self.values: dict[UUID, HeldValue] = {}
        self.links: list[tuple[UUID, StatedFact]] = []

    def add(self, fact: StatedFact, resolution: Resolution, known: dict[UUID, HeldValue]) -> None:
        for value in resolution.changed:
            known[value.memory_id] = value
            if value.memory_id in self.stored:
                self.values[value.memory_id] = value
            else:
                self.changed[value.memory_id] = value
        if resolution.superseded:
            source = fact.value.source_id
            self.superseded[source] = (*self.superseded.get(source, ()), *resolution.superseded)
        if resolution.stored is not None:
            memory_id = resolution.stored.memory_id
            known[memory_id] = self.values[memory_id] = resolution.stored
            self.stored[memory_id] = fact
            self.links.append((memory_id, fact))
        elif resolution.confirmed is not None:
            self._confirm(resolution.confirmed, fact, known)

    @property
    def unlike_their_units(self) -> set[UUID]:
        """What may be in another state than its search units: units are stored as active."""
        return {*self.changed, *(one for one in self.stored if self.values[one].state is not MemoryState.ACTIVE)}

    @property
    def not_as_sure_as_drafted(self) -> set[UUID]:
        """What may have other sources than the one that it was drafted from."""
        sources = Counter(memory_id for memory_id, _ in self.links)
        return {
            memory_id
            for memory_id, count in sources.items()
            if count > 1 or memory_id not in self.stored or self.stored[memory_id].adopts
        }

    def _confirm(self, memory_id: UUID, fact: StatedFact, known: dict[UUID, HeldValue]) -> None:
        value = known[memory_id]
        said_until = max(value.said_until or value.told_at, fact.value.told_at)
        known[memory_id] = confirmed = replace(value, said_until=said_until)
        if memory_id in self.stored:
            self.values[memory_id] = confirmed
        elif confirmed != value:
            self.changed[memory_id] = confirmed
        self.links.append((memory_id, fact))


async def lock_attributes(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, attributes: Iterable[Attribute]
) -> None:
    """Keep all others from writing these attributes until the transaction ends."""
    locks = sorted({_lock(tenant_id, namespace_id, subject, attribute) for subject, attribute in attributes})
    await connection.execute(SQL["lock_attributes"], {"locks": locks})


async def change_values(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, values: Iterable[HeldValue], now: datetime
) -> None:
    """Write the state of known values; those that cease to be active go first."""
    ordered = sorted(values, key=lambda value: value.state is MemoryState.ACTIVE)
    for active in (False, True):
        records = [_value_record(value) for value in ordered if (value.state is MemoryState.ACTIVE) is active]
        if records:
            place = {"tenant_id": tenant_id, "namespace_id": namespace_id, "now": now, "values": as_records(records)}
            await connection.execute(SQL["change_values"], place)


async def recount(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID], now: datetime
) -> None:
    """Make the confidence of facts what their sources are worth."""
    if not memory_ids:
        return
    place: dict[str, Any] = {"tenant_id": tenant_id, "namespace_id": namespace_id, "now": now}
    cursor = await connection.execute(SQL["count_sources"], {**place, "memory_ids": sorted(memory_ids)})
    records = []
    for memory_id, trust, before, sources in await cursor.fetchall():
        sure = confidence(Trust(trust), sources)
        if abs(sure - before) > 1e-6:
            records.append({"memory_id": memory_id, "confidence": sure})
    if records:
        await connection.execute(SQL["set_confidence"], {**place, "values": as_records(records)})


async def enqueue_summaries(
    connection: Connection, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID]
) -> None:
    """Have the histories retold of those attributes among these facts' that have had enough values."""
    place = {"tenant_id": tenant_id, "namespace_id": namespace_id}
    cursor = await connection.execute(
        SQL["many_valued"], {**place, "memory_ids": list(memory_ids), "least": LEAST_VALUES}
    )
    for (memory_id,) in await cursor.fetchall():
        await enqueue_summary(connection, tenant_id, namespace_id, memory_id)


def held_value_of(row: Mapping[str, Any]) -> HeldValue:
    """Return the value of a row of `lock_known`."""
    return HeldValue(
        memory_id=row["memory_id"],
        value_key=row["fact_value_key"] or "",
        told_at=row["fact_told_at"] or row["occurred_at"],
        source_id=row["fact_source_id"] or row["memory_id"],
        starts_at=row["valid_from"] or row["occurred_at"],
        unit=row["fact_unit"] or "",
        denied=row["fact_denied"],
        single_valued=bool(row["single_valued"]),
        stance=Stance(row["fact_stance"] or Stance.STANDING),
        category=row["fact_category"] or "",
        replaces=row["fact_replaces"] or "",
        trust=Trust(row["trust"]),
        valid_to=row["valid_to"],
        state=MemoryState(row["state"]),
        superseded_by=row["superseded_by"],
        said_until=row["occurred_until"],
    )


def fact_record(stated: StatedFact, value: HeldValue) -> dict[str, object]:
    """Return the columns that make a memory's row a fact, as `describe_facts` reads them."""
    fact = stated.memory.fact or Fact("", "", "")
    return {
        "memory_id": value.memory_id,
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value": fact.value,
        "unit": fact.unit,
        "single_valued": value.single_valued,
        "value_key": value.value_key,
        "denied": value.denied,
        "stance": value.stance.value,
        "category": value.category,
        "replaces": value.replaces,
        "told_at": value.told_at,
        "said_until": value.said_until,
        "source_id": value.source_id,
        "state": int(value.state),
        "valid_from": value.starts_at,
        "valid_to": value.valid_to,
        "superseded_by": value.superseded_by,
        "extractor": fact.extractor,
        "prompt_version": fact.prompt_version,
        "note": fact.note,
        "derived": not stated.adopts,
    }


def added_by(made: Sequence[StatedFact], bags: Sequence[KeywordBag]) -> NamespaceDelta:
    """Return what new facts, with the bags of their units, add to a namespace's counts."""
    flags = [fact.unit.flags for fact in made if fact.unit is not None]
    return NamespaceDelta(
        units=len(bags),
        keyword_total=sum(bag.length for bag in bags),
        chinese_units=sum(bool(flag & UnitFlag.CHINESE) for flag in flags),
        english_units=sum(bool(flag & UnitFlag.ENGLISH) for flag in flags),
        memories=len(made),
        size_bytes=sum(len(fact.memory.content.encode()) for fact in made),
    )


async def _link(connection: Connection, place: Mapping[str, Any], links: Sequence[tuple[UUID, StatedFact]]) -> None:
    events = [
        {
            "memory_id": memory_id,
            "session_id": fact.event.session_id,
            "event_id": fact.event.event_id,
            "sequence": fact.event.sequence,
        }
        for memory_id, fact in links
        if fact.event is not None
    ]
    memories = [
        {"memory_id": memory_id, "source_memory_id": source_id}
        for memory_id, fact in links
        if fact.event is None
        and (source_id := fact.memory.memory_id if fact.adopts else fact.value.source_id) != memory_id
    ]
    if events:
        await connection.execute(SQL["link_events"], {**place, "links": as_records(events)})
    if memories:
        await connection.execute(SQL["link_memories"], {**place, "links": as_records(memories)})


def _value_record(value: HeldValue) -> dict[str, object]:
    return {
        "memory_id": value.memory_id,
        "state": int(value.state),
        "valid_from": value.starts_at,
        "valid_to": value.valid_to,
        "superseded_by": value.superseded_by,
        "told_at": value.told_at,
        "said_until": value.said_until,
    }


def _attribute_of(fact: StatedFact) -> Attribute:
    stated = fact.memory.fact
    return (stated.subject, stated.attribute) if stated else ("", "")


def _lock(tenant_id: UUID, namespace_id: UUID, subject: str, attribute: str) -> int:
    name = f"{tenant_id}/{namespace_id}/{subject}\0{attribute}".encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big", signed=True)
