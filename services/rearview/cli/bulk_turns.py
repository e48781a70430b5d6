"""Any number of turns composed of a bounded set of texts, indexed as the writer does it, without the writer's steps.

A turn is two of the texts, its vector the sum of their real vectors; everything after that (windows, smoothing, bags,
episodes) is the writer's own code.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.postgres.bulk_load import FinishedSession, NamespaceCounts
from rearview.domain.capture import CaptureDecision
from rearview.domain.context_window import OpenWindows
from rearview.domain.event import CaptureOutcome, Event, EventRole
from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import MAX_TERMS
from rearview.domain.memory import MemoryType
from rearview.domain.segmentation import SegmentationRules
from rearview.domain.text import Language
from rearview.domain.unit_projection import KeywordStatistics
from rearview.language.keyword_hashes import KeywordHashes
from rearview.ports.analyzer import Analysis
from rearview.ports.session_index import PendingEvents
from rearview.ports.working_memory import SessionKey
from rearview.writer.episodes import KeptTurn, merged_entities
from rearview.writer.index_plan import IndexPlan

TURNS_PER_SESSION = 10
_FIRST_DAY = datetime(2024, 1, 1, 8, tzinfo=UTC)
_DAYS = 500
_MINUTES_BETWEEN_SESSIONS = 97
_SECONDS_BETWEEN_TURNS = 40
_KEPT = CaptureDecision(CaptureOutcome.KEPT, MemoryType.EPISODE, 0.5, "composed for a benchmark")


@dataclass(frozen=True, slots=True, eq=False)
class KnownText:
    """A text with what was found in it; `plain`: (d,) float32, centred, L2-normalised."""

    text: str
    analysis: Analysis
    plain: NDArray[np.float32]


class BulkTurns:
    """Composes sessions of one namespace and counts what they add to its statistics."""

    def __init__(
        self,
        texts: Sequence[KnownText],
        session: SessionKey,
        generation: EmbeddingGeneration,
        rules: SegmentationRules,
        seed: int,
        turns_per_session: int = TURNS_PER_SESSION,
    ) -> None:
        """`session` names tenant and namespace; its own id begins the ids of the sessions."""
        self._texts = texts
        self._session = session
        self._generation = generation
        self._rules = rules
        self._turns_per_session = turns_per_session
        self._random = random.Random(seed)  # noqa: S311 - for the same texts at each run
        hasher = KeywordHashes()
        self._keywords = [hasher.keywords(session.namespace_id, known.text) for known in texts]
        self._by_language: dict[frozenset[Language], list[int]] = {}
        for at, known in enumerate(texts):
            self._by_language.setdefault(known.analysis.languages, []).append(at)
        self._sessions = 0
        self.counts = NamespaceCounts()

    def continued_with(self, texts: Sequence[KnownText]) -> BulkTurns:
        """Return what goes on with other texts, in the same counts."""
        seed = self._random.randrange(1 << 30)
        following = BulkTurns(texts, self._session, self._generation, self._rules, seed, self._turns_per_session)
        following._sessions, following.counts = self._sessions, self.counts
        return following

    def sessions(self, turns: int, now: datetime) -> Iterator[FinishedSession]:
        """Yield sessions, `turns` in all."""
        for start in range(0, turns, self._turns_per_session):
            yield self._next(min(self._turns_per_session, turns - start), now)

    def _next(self, turns: int, now: datetime) -> FinishedSession:
        number, self._sessions = self._sessions, self._sessions + 1
        begins = _FIRST_DAY + timedelta(minutes=number * _MINUTES_BETWEEN_SESSIONS % (_DAYS * 24 * 60))
        session = replace(self._session, session_id=f"{self._session.session_id}-{number}")
        kept = [self._turn(at + 1, begins + timedelta(seconds=at * _SECONDS_BETWEEN_TURNS), now) for at in range(turns)]
        plan = IndexPlan(_nothing_yet(session), self._rules, self._generation, now)
        plan.add(kept)
        plan.close()
        units, _ = plan.projections(self._statistics(plan))
        counted = plan.counted(units)
        counts = self.counts
        counts.units += counted.units
        counts.keyword_total += counted.keyword_total
        counts.chinese_units += counted.chinese_units
        counts.english_units += counted.english_units
        counts.memories += len(plan.created)
        counts.size_bytes += sum(len(memory.content.encode()) for memory in plan.created.values())
        for term, units_with_term in counted.terms.items():
            counts.terms[term] = counts.terms.get(term, 0) + units_with_term
        return FinishedSession(
            session.session_id,
            [turn.event for turn in kept],
            [turn.keywords for turn in kept],
            list(plan.created.values()),
            [(link.memory_id, link.event_id, link.sequence) for link in plan.links],
            units,
        )

    def _statistics(self, plan: IndexPlan) -> KeywordStatistics:
        terms = plan.bags_beyond(MAX_TERMS)
        frequencies = {term: self.counts.terms.get(term, 0) for term in terms}
        return KeywordStatistics(self.counts.units, self.counts.keyword_total, frequencies)

    def _turn(self, sequence: int, occurred_at: datetime, now: datetime) -> KeptTurn:
        one = self._random.randrange(len(self._texts))
        other = self._random.choice(self._by_language[self._texts[one].analysis.languages])
        first, second = self._texts[one], self._texts[other]
        summed = first.plain + second.plain
        plain = (summed / max(float(np.linalg.norm(summed)), 1e-6)).astype(np.float32)
        event = Event(
            event_id=new_id(),
            role=EventRole.USER,
            content=f"{first.text} {second.text}",
            occurred_at=occurred_at,
            sequence=sequence,
            created_at=now,
        )
        return KeptTurn(
            event=event,
            analysis=_together(first.analysis, second.analysis),
            decision=_KEPT,
            plain=plain,
            topic=self._generation.corrected(plain[None], [first.analysis.languages | second.analysis.languages])[0],
            keywords=self._keywords[one] + self._keywords[other],
            speaker=0,
        )


def _together(first: Analysis, second: Analysis) -> Analysis:
    return replace(
        first,
        languages=first.languages | second.languages,
        entities=merged_entities(first.entities, second.entities),
        time_ranges=first.time_ranges + second.time_ranges,
    )


def _nothing_yet(session: SessionKey) -> PendingEvents:
    return PendingEvents(
        session=session,
        namespace="",
        events=(),
        more=False,
        indexed_sequence=0,
        ended=True,
        windows_closed=True,
        windows=OpenWindows(),
        episode=None,
        last_appended_at=None,
    )
