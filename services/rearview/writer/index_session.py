"""Indexing: what was appended to a session becomes memories and search units, in bounded batches."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from rearview.domain.capture import CaptureDecision, decide
from rearview.domain.errors import Conflict
from rearview.domain.event import Event
from rearview.domain.extraction import TurnReading
from rearview.domain.importance import reference_counts
from rearview.domain.keyword_bag import MAX_TERMS
from rearview.domain.segmentation import DEFAULT_LONGEST_GAP, SegmentationRules
from rearview.domain.turn_text import unit_text
from rearview.ports.analyzer import Analysis, Analyzer
from rearview.ports.clock import Clock
from rearview.ports.embedder import Embedder
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.session_index import EventCapture, IndexedBatch, PendingEvents, SessionIndex
from rearview.ports.working_memory import SessionKey
from rearview.writer.echo_guard import EchoGuard, Heard
from rearview.writer.episodes import KeptTurn
from rearview.writer.facts.turn_facts import FactMaker, keeping_what_states
from rearview.writer.index_plan import IndexPlan
from rearview.writer.merge_schedule import MergeSchedule
from rearview.writer.novelty import Novelty, NoveltyGate
from rearview.writer.reopened_windows import reopened

_MOST_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class IndexingRules:
    """How much is indexed at once, and when a session counts as silent."""

    batch_events: int = 64
    longest_gap: timedelta = DEFAULT_LONGEST_GAP
    silent_after: timedelta = timedelta(minutes=10)


class SessionIndexer:
    """The jobs `index_session` and `close_session_windows`. Running one again changes nothing."""

    def __init__(
        self,
        index: SessionIndex,
        embedder: Embedder,
        analyzer: Analyzer,
        hasher: KeywordHasher,
        echoes: EchoGuard,
        novelty: NoveltyGate,
        merges: MergeSchedule,
        clock: Clock,
        rules: IndexingRules,
        facts: FactMaker,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._analyzer = analyzer
        self._hasher = hasher
        self._echoes = echoes
        self._novelty = novelty
        self._merges = merges
        self._clock = clock
        self._rules = rules
        self._facts = facts

    async def index(self, session: SessionKey) -> None:
        """Index a batch of a session's pending events; does nothing for a session that is gone. What is left is for a
        job of its own, enqueued with the batch: no session keeps a worker from others.

        Raises:
            ModelUnavailable: the embedder cannot answer; events stay pending and the job is tried again.
            Conflict: others kept changing the session; the job is tried again.
            Unavailable: the database cannot be reached.
        """
        for _ in range(_MOST_ATTEMPTS):
            pending = await self._index.pending(session, limit=self._rules.batch_events)
            if pending is None:
                return
            close = pending.ended and not pending.more
            if not pending.events and (pending.windows_closed or not close):
                return
            if await self._write(pending, close=close):
                return
        raise Conflict("the session kept changing while it was indexed", retry_after_seconds=1.0)

    async def close_if_silent(self, session: SessionKey) -> None:
        """Index what is pending; close the session's windows unless it has had a turn lately, else look again later."""
        await self.index(session)
        pending = await self._index.pending(session, limit=self._rules.batch_events)
        if pending is None or pending.windows_closed:
            return
        last = pending.last_appended_at
        silent = last is None or self._clock.now() - last >= self._rules.silent_after
        # A change in between means that there is news, which has its own job; then look again later, too.
        await self._write(pending, close=silent and not pending.events, look_again=not silent or bool(pending.events))

    async def _write(self, pending: PendingEvents, *, close: bool, look_again: bool = False) -> bool:
        now = self._clock.now()
        stages: dict[str, float] = {}
        if pending.reopen:
            windows = await reopened(pending.windows, pending.reopen, self._embedder, self._analyzer)
            pending = replace(pending, windows=windows)
        heard = await self._echoes.heard(pending)
        read = await self._read(heard, stages)
        readings = await self._stated(pending, heard, stages)
        read = keeping_what_states(read, readings)
        kept = await self._embedded(pending, read, stages)
        tenant_id, namespace_id = pending.session.tenant_id, pending.session.namespace_id
        novelty = await self._novelty.part(tenant_id, namespace_id, kept, stages)
        generation = self._embedder.generation
        thresholds = generation.thresholds
        rules = SegmentationRules(
            thresholds.segment_boundary_cosine, thresholds.segment_turn_cosine, self._rules.longest_gap
        )
        plan = IndexPlan(pending, rules, generation, now)
        plan.add(novelty.new)
        plan.strengthen([turn.event for turn in kept], novelty.repetitions)
        if close:
            plan.close()
        statistics = await self._index.statistics(tenant_id, namespace_id, plan.bags_beyond(MAX_TERMS))
        units, grown = plan.projections(statistics)
        memories = {event_id: memory for event_id, (_, memory) in plan.opened.items()}
        facts = await self._facts.of_turns(pending, read, readings, memories, statistics, now)
        merging = len(plan.finished) + len(facts)
        merge_at = self._merges.due(tenant_id, namespace_id, merging, now)
        opens = pending.windows_closed and not plan.windows_closed
        batch = IndexedBatch(
            pending=pending,
            created=tuple(plan.created.values()),
            extended=plan.extended,
            links=tuple(plan.links),
            units=units,
            grown=grown,
            windows=plan.windows,
            counted=plan.counted(units),
            captures=tuple(_captures(read, plan, novelty, readings, stages)),
            strengthened=tuple(plan.strengthened.values()),
            speakers={turn.speaker: turn.event.speaker for turn in kept if turn.speaker},
            open_episode_id=plan.open_episode.memory_id if plan.open_episode else None,
            windows_closed=plan.windows_closed,
            indexed_sequence=max((event.sequence for event in pending.events), default=pending.indexed_sequence),
            close_windows_at=now + self._rules.silent_after if opens or look_again else None,
            merge_units_at=merge_at,
            facts=facts,
            watch=novelty.watch,
        )
        written = await self._index.write(batch, now=now)
        if written:
            self._merges.committed(tenant_id, namespace_id, merging, merge_at, now)
        return written

    async def _read(
        self, heard: Sequence[Heard], stages: dict[str, float]
    ) -> list[tuple[Event, Analysis, CaptureDecision]]:
        events = [one.event for one in heard]

        def read() -> list[tuple[Event, Analysis, CaptureDecision]]:
            analyses = self._analyzer.analyze_batch(
                [event.searchable_text for event in events],
                references=[event.occurred_at for event in events],
                roles=[event.role.name.lower() for event in events],
            )
            counts = reference_counts([[entity.canonical for entity in analysis.entities] for analysis in analyses])
            rated = [replace(a.signals, reference_count=count) for a, count in zip(analyses, counts, strict=True)]
            return [
                (one.event, analysis, decide(one.event, signals, echoed=one.echoed, empty=one.nothing_else))
                for one, analysis, signals in zip(heard, analyses, rated, strict=True)
            ]

        started = time.perf_counter()
        result = await asyncio.to_thread(read) if events else []
        stages["analyse"] = _milliseconds_each(started, len(events))
        return result

    async def _stated(
        self, pending: PendingEvents, heard: Sequence[Heard], stages: dict[str, float]
    ) -> Mapping[UUID, TurnReading]:
        started = time.perf_counter()
        events = [one.event for one in heard]
        readings = await self._facts.read(pending.session.tenant_id, events, pending.earlier)
        stages["facts"] = _milliseconds_each(started, len(pending.events))
        return readings

    async def _embedded(
        self,
        pending: PendingEvents,
        read: Sequence[tuple[Event, Analysis, CaptureDecision]],
        stages: dict[str, float],
    ) -> list[KeptTurn]:
        kept = [found for found in read if found[2].type is not None]
        if not kept:
            return []
        texts = [unit_text(event, analysis.languages) for event, analysis, _ in kept]
        started = time.perf_counter()
        generation = self._embedder.generation
        plain = generation.centre(await self._embedder.embed_passages(texts))
        topics = generation.corrected(plain, [analysis.languages for _, analysis, _ in kept])
        stages["embed"] = _milliseconds_each(started, len(kept))
        namespace_id = pending.session.namespace_id
        return [
            KeptTurn(
                event=event,
                analysis=analysis,
                decision=decision,
                plain=plain[at],
                topic=topics[at],
                keywords=self._hasher.keywords(namespace_id, texts[at]),
                speaker=self._hasher.speaker(namespace_id, event.speaker),
            )
            for at, (event, analysis, decision) in enumerate(kept)
        ]


def _captures(
    read: Sequence[tuple[Event, Analysis, CaptureDecision]],
    plan: IndexPlan,
    novelty: Novelty,
    readings: Mapping[UUID, TurnReading],
    stages: dict[str, float],
) -> list[EventCapture]:
    captures = []
    for event, _, decision in read:
        repetition = novelty.repetitions.get(event.event_id)
        boundary = plan.boundaries.get(event.event_id)
        reason = f"{decision.reason}; new segment: {boundary}" if boundary else decision.reason
        reading = readings.get(event.event_id)
        if repetition is not None:
            reason = f"{decision.reason}; {repetition.reason}"
        if reading is not None:
            reason = f"{reason}; {len(reading.facts)} statements read by {reading.provenance.extractor}"
        captures.append(
            EventCapture(
                event_id=event.event_id,
                outcome=repetition.outcome if repetition else decision.outcome,
                importance=decision.importance,
                reason=reason,
                stage_milliseconds=stages,
                bands=novelty.bands.get(event.event_id, ()),
            )
        )
    return captures


def _milliseconds_each(started: float, count: int) -> float:
    return round((time.perf_counter() - started) * 1000 / max(count, 1), 3)
