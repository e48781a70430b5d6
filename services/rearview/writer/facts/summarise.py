"""Histories told in a sentence: what an attribute's values were, once it has had several."""

from collections.abc import Sequence
from uuid import UUID

from rearview.domain.content_hash import content_hash
from rearview.domain.fact import PERSON, USER
from rearview.domain.fact_history import LEAST_VALUES, history_text
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import Fact, Memory, MemoryType
from rearview.domain.text import Language
from rearview.domain.turn_text import memory_unit_text
from rearview.domain.unit_projection import KeywordStatistics
from rearview.ports.attribute_names import AttributeNames
from rearview.ports.clock import Clock
from rearview.ports.embedder import Embedder
from rearview.ports.fact_histories import FactHistories
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.memory_store import NewMemory
from rearview.ports.turn_reading import Languages
from rearview.writer.facts.turn_facts import fact_unit

EXTRACTOR = "history"


class HistorySummariser:
    """The job `summarise_fact`. Running one again changes nothing."""

    def __init__(
        self,
        histories: FactHistories,
        names: AttributeNames,
        languages: Languages,
        embedder: Embedder,
        hasher: KeywordHasher,
        clock: Clock,
    ) -> None:
        self._histories = histories
        self._names = names
        self._languages = languages
        self._embedder = embedder
        self._hasher = hasher
        self._clock = clock

    async def summarise(self, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> None:
        """Tell the history that a fact's value is part of; take the summary back when there are too few values.

        Raises:
            ModelUnavailable: the embedder cannot answer; the job is tried again.
            Conflict: the history changed meanwhile; the job is tried again.
            Unavailable: the database cannot be reached.
        """
        history = await self._histories.read(tenant_id, namespace_id, memory_id)
        if history is None:
            return
        affirmed = [value for value in history.values if value.fact and not value.fact.denied]
        if len(affirmed) < LEAST_VALUES:
            if history.summary is not None:
                await self._histories.replace(tenant_id, namespace_id, history, None, now=self._clock.now())
            return
        summary = self._summary(history.values)
        if history.summary is not None and content_hash(history.summary.content) == content_hash(summary.content):
            return
        text = memory_unit_text(summary.content, summary.occurred_at, self._languages(summary.content))
        plain = self._embedder.generation.centre(await self._embedder.embed_passages([text]))
        bag = KeywordBag.of(self._hasher.keywords(namespace_id, text))
        new = NewMemory(summary, fact_unit(summary, plain[0], bag, KeywordStatistics()), bag)
        await self._histories.replace(tenant_id, namespace_id, history, new, now=self._clock.now())

    def _summary(self, values: Sequence[Memory]) -> Memory:
        newest, now = values[0], self._clock.now()
        fact = newest.fact or Fact(USER, "", "")
        language = Language.ZH if Language.ZH in newest.languages else Language.EN
        whose = "" if fact.subject == USER else fact.subject.removeprefix(f"{PERSON}/").removeprefix(f"{USER}/")
        return Memory(
            memory_id=new_id(),
            type=MemoryType.SUMMARY,
            content=history_text(self._names.label(fact.attribute, language), whose, values, language),
            occurred_at=newest.occurred_at,
            occurred_until=newest.occurred_at,
            created_at=now,
            updated_at=now,
            origin=newest.origin,
            trust=min(value.trust for value in values),
            confidence=min(value.confidence for value in values),
            languages=frozenset({language}),
            generation_id=self._embedder.generation.generation_id,
            fact=Fact(fact.subject, fact.attribute, fact.value, fact.unit, extractor=EXTRACTOR),
        )
