"""Recall: from a question to the few memories that answer it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.addition import noise_cosines
from rearview.domain.errors import DeadlineExceeded, EmbeddingGenerationMismatch, RearviewError, invalid_field
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryType
from rearview.domain.recall import EmptyReason, Recalled, RecallQuery, RecallTrace, Route
from rearview.domain.redaction import RedactionPolicy
from rearview.domain.relevance import RANKER
from rearview.domain.text import PiiCategory
from rearview.ports.clock import Clock
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.policies import RedactionPolicies
from rearview.ports.query_reader import QueryReader
from rearview.ports.recall_side_effects import RecallRecorder
from rearview.ports.recall_store import Found, Generation, RecallStore, Search
from rearview.ports.redactor import Redactor
from rearview.ports.working_memory import RecentTurns
from rearview.retriever.answer import Content, Selection, hits_of, select
from rearview.retriever.asked import Asked, RecallLimits
from rearview.retriever.candidates import Candidate, CandidateScorer
from rearview.retriever.cold_stage import LEAST_SECONDS, ColdStage
from rearview.retriever.course import Course
from rearview.retriever.deadline import Deadline
from rearview.retriever.index_sampler import IndexSampler
from rearview.retriever.newest_turns import ids_of, newest_candidates
from rearview.retriever.own_text_stage import OwnTextStage
from rearview.retriever.question import Question, QuestionReader
from rearview.retriever.ranking import Ranking
from rearview.retriever.reading import COLD, TimedReading, Turns
from rearview.retriever.reranking import RERANK, RerankStage

VECTOR = "vector"
PLAN = "plan"


@dataclass(frozen=True, slots=True)
class _Picked:
    """What was chosen of what was found."""

    ranking: Ranking
    shortlist: list[Candidate]
    ranked: list[tuple[Candidate, Content]]
    ranker: str
    selection: Selection


class Recall:
    """Finds the memories most relevant to a query."""

    def __init__(
        self,
        *,
        store: RecallStore,
        working_memory: RecentTurns,
        reader: QueryReader,
        hasher: KeywordHasher,
        redactor: Redactor,
        recorder: RecallRecorder,
        clock: Clock,
        reranking: RerankStage | None = None,
        limits: RecallLimits | None = None,
        policies: RedactionPolicies | None = None,
        sampler: IndexSampler | None = None,
        cold: ColdStage | None = None,
    ) -> None:
        """Take the parts; without `policies` every tenant's traces are redacted by the default one, without `cold`
        segments are not searched."""
        self._store = store
        self._questions = QuestionReader(reader, hasher)
        self._scorer = CandidateScorer(reader, hasher)
        self._own_text = OwnTextStage(reader)
        self._redactor = redactor
        self._recorder = recorder
        self._clock = clock
        self._reranking = reranking
        self._limits = limits or RecallLimits()
        self._policies = policies
        self._sampler = sampler
        self._cold = cold
        self._reading = TimedReading(
            store, working_memory, cold, working_memory_seconds=self._limits.working_memory_seconds
        )

    async def recall(self, asked: Asked) -> Recalled:
        """Return the memories most relevant to a query, best first, and leave a trace.

        Scores lie in [0, 1] and compare only within one answer. What was left out for want of time or parts stands in
        `degraded`.

        Raises:
            InvalidFields: there is no such profile.
            EmbeddingGenerationMismatch: the query's vectors are of no generation that is searched.
            DeadlineExceeded: the answer could not be had in time.
            Unavailable: the database does not answer.
        """
        query, course = asked.query, Course(new_id(), self._clock.now())
        deadline = Deadline(self._limits.seconds(asked.time_left_seconds))
        question = self._questions.question(query, course.at)
        generation = await self._generation(asked, deadline)
        vector = self._vector(asked, generation, course)
        searches = self._questions.searches(query, question, asked.scopes, vector)
        course.lap("understand")
        found, working = await self._reading.find(asked, searches, generation, deadline, course)
        course.lap("routes")
        if query.include_cold:
            found = await self._with_cold(asked, searches, found, generation, deadline, course)
        picked = await self._pick(asked, searches, found, working, question, deadline, course)
        if not query.include_cold and self._too_few(query, picked, found, deadline):
            found = await self._with_cold(asked, searches, found, generation, deadline, course)
            picked = await self._pick(asked, searches, found, working, question, deadline, course)
        ranked, ranker, selection = picked.ranked, picked.ranker, picked.selection
        hits, context = hits_of(selection.groups, query, question.languages)
        course.lap("pack")
        if query.explain_plan:
            await self._explain(asked, searches, generation, deadline, course)
        empty_reason = (
            EmptyReason.NOT_EMPTY if hits else await self._why_empty(asked, any_found=bool(ranked), deadline=deadline)
        )
        self._leave_behind(asked, question, found, picked.ranking, picked.shortlist, selection, course)
        self._sample(searches, found, generation)
        return Recalled(
            hits=hits,
            context=context.text,
            context_tokens=context.tokens,
            trace_id=course.trace_id,
            degraded=tuple(course.degraded),
            ranker=ranker,
            empty_reason=empty_reason,
            noise_cosines=self._noise_cosines(found) if len(hits) == query.top_k else {},
        )

    def _noise_cosines(self, found: Sequence[Found]) -> Mapping[int, float]:
        """Only of a full answer, which ends far above them: whatever joins the pool moves its mean and deviation, and
        so the limit at which others without a shared word are let in."""
        if self._reranking is not None:
            return {}  # a cross-encoder may like what shares no word with the query
        return noise_cosines((one.units.similarity, one.units.flags) for one in found)

    async def _generation(self, asked: Asked, deadline: Deadline) -> Generation | None:
        tenant_id = asked.scopes[0].tenant_id
        generation = await deadline.keep(self._store.answering_generation(tenant_id))
        if asked.vectors and (generation is None or generation.generation_id not in asked.vectors):
            # It may have changed, or come into being, since it was read last.
            generation = await deadline.keep(self._store.answering_generation(tenant_id, fresh=True))
        return generation

    def _vector(self, asked: Asked, generation: Generation | None, course: Course) -> NDArray[np.float32] | None:
        wanted = Route.VECTOR not in asked.query.disabled_routes
        if not asked.vectors and wanted:
            course.degrade(VECTOR)
        if not asked.vectors or generation is None:
            return None
        vector = asked.vectors.get(generation.generation_id)
        if vector is None:
            raise EmbeddingGenerationMismatch(
                "the query was embedded by another model generation than the one that is searched",
                expected=generation.generation_id,
                actual=",".join(sorted(asked.vectors)),
            )
        if vector.shape != (generation.dimension,):
            raise invalid_field("vectors", f"expected {generation.dimension} values, got {vector.size}")
        return vector if wanted else None

    async def _with_cold(
        self,
        asked: Asked,
        searches: Sequence[Search],
        found: list[Found],
        generation: Generation | None,
        deadline: Deadline,
        course: Course,
    ) -> list[Found]:
        if not any(one.segments for one in found):
            return found
        if self._cold is None:
            course.degrade(COLD)
            return found
        tenant_id = asked.scopes[0].tenant_id
        joined, whole = await self._cold.join(
            tenant_id, searches, found, generation, asked.vectors, deadline.left_seconds()
        )
        if not whole:
            course.degrade(COLD)
        course.lap("cold")
        return joined

    def _too_few(self, query: RecallQuery, picked: "_Picked", found: Sequence[Found], deadline: Deadline) -> bool:
        return (
            self._cold is not None
            and len(picked.selection.groups) < query.top_k
            and any(one.segments for one in found)
            and deadline.left_seconds() > LEAST_SECONDS
        )

    async def _pick(
        self,
        asked: Asked,
        searches: Sequence[Search],
        found: Sequence[Found],
        working: Turns,
        question: Question,
        deadline: Deadline,
        course: Course,
    ) -> "_Picked":
        query = asked.query
        ranking = self._ranking(searches, found, working, question)
        course.lap("fuse")
        shortlist = self._shortlist(query, ranking, self._own_text.spare(question))
        ranked = await self._reading.load(asked, shortlist, ranking, working, deadline, course)
        ranked = self._own_text.apply(ranked, question)
        course.lap("load")
        ranked, ranker = await self._rerank(ranked, query, question, deadline, course)
        selection = select(
            ranked,
            top_k=query.top_k,
            by_memory=query.group_by_memory,
            floor=self._limits.floor,
            facts_apart=MemoryType.FACT in query.filter.types,
            newest=ids_of(ranking.newest),
        )
        return _Picked(ranking, shortlist, ranked, ranker, selection)

    def _ranking(
        self,
        searches: Sequence[Search],
        found: Sequence[Found],
        working: Turns,
        question: Question,
    ) -> Ranking:
        scored = [
            self._scorer.score(search, one, working if at == 0 else (), question)
            for at, (search, one) in enumerate(zip(searches, found, strict=True))
        ]
        newest = newest_candidates(searches[0], found[0], scored[0])
        return Ranking([one for one in scored if one is not None], newest)

    def _shortlist(self, query: RecallQuery, ranking: Ranking, spare: int) -> list[Candidate]:
        wanted = query.top_k + spare
        if self._reranking is not None and query.rerank:
            wanted = max(wanted, self._reranking.depth)
        if not query.group_by_memory:
            return ranking.with_newest(ranking.best(wanted))
        candidates = ranking.best(None)
        first_groups = set(list(dict.fromkeys(candidate.group_id for candidate in candidates))[:wanted])
        return ranking.with_newest([candidate for candidate in candidates if candidate.group_id in first_groups])

    async def _explain(
        self,
        asked: Asked,
        searches: Sequence[Search],
        generation: Generation | None,
        deadline: Deadline,
        course: Course,
    ) -> None:
        tenant_id, left = asked.scopes[0].tenant_id, deadline.left_seconds()
        try:
            course.plan = await deadline.keep(
                self._store.explain(tenant_id, searches, generation, timeout_seconds=left)
            )
        except DeadlineExceeded:
            course.degrade(PLAN)

    async def _rerank(
        self,
        ranked: list[tuple[Candidate, Content]],
        query: RecallQuery,
        question: Question,
        deadline: Deadline,
        course: Course,
    ) -> tuple[list[tuple[Candidate, Content]], str]:
        if self._reranking is None or not query.rerank:
            return ranked, RANKER
        reranked = await self._reranking.apply(ranked, query, question, deadline.left_seconds())
        if not reranked.complete:
            course.degrade(RERANK)
        course.lap("rerank")
        return reranked.ranked, self._reranking.name

    async def _why_empty(self, asked: Asked, *, any_found: bool, deadline: Deadline) -> EmptyReason:
        if any_found:
            return EmptyReason.BELOW_FLOOR
        stored = await deadline.keep(
            self._store.anything_stored(
                asked.scopes[0].tenant_id,
                [scope.namespace_id for scope in asked.scopes],
                timeout_seconds=deadline.left_seconds(),
            )
        )
        if not stored:
            return EmptyReason.NOTHING_STORED
        restricted = asked.query.as_of is not None or not asked.query.filter.is_empty
        return EmptyReason.FILTERED_OUT if restricted else EmptyReason.BELOW_FLOOR

    async def _redacted(self, tenant_id: UUID, text: str) -> str:
        policy = RedactionPolicy()
        if self._policies is not None:
            try:
                policy = await self._policies.redaction(tenant_id)
            except RearviewError:  # better a trace that says less than none
                policy = RedactionPolicy(tuple(PiiCategory))
        if policy.needs_models:
            return (await asyncio.to_thread(self._redactor.redact, text, policy.categories)).text
        return self._redactor.redact(text, policy.categories).text

    def _sample(self, searches: Sequence[Search], found: Sequence[Found], generation: Generation | None) -> None:
        if self._sampler is None or generation is None:
            return
        for search, one in zip(searches, found, strict=True):
            if one.exact_vectors is False and search.filter.is_empty and search.as_of is None:
                self._sampler.offer(search.scope.tenant_id, search, generation)

    def _leave_behind(
        self,
        asked: Asked,
        question: Question,
        found: Sequence[Found],
        ranking: Ranking,
        shortlist: Sequence[Candidate],
        selection: Selection,
        course: Course,
    ) -> None:
        scope = asked.scopes[0]

        async def trace() -> RecallTrace:
            asked_text = await self._redacted(scope.tenant_id, "\n".join(text for text, _ in question.texts))
            return course.trace(asked_text, question, asked.scopes, found, ranking, shortlist, selection)

        self._recorder.record(scope.tenant_id, scope.principal, asked.scopes, trace)
        texts = {content.text for group in selection.groups for content in group.contents}
        texts.update(
            event.searchable_text for group in selection.groups for c in group.contents for _, event in c.turns
        )
        self._recorder.hand_out(asked.scopes, texts, course.at)
        accessed: dict[UUID, set[UUID]] = {}
        for group in selection.groups:
            if group.best.unit is not None:
                accessed.setdefault(group.best.scope.namespace_id, set()).add(group.best.unit.memory_id)
        if accessed:
            self._recorder.count_accesses(scope.tenant_id, accessed, course.at)
