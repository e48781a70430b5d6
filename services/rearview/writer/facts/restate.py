"""Stating a fact anew: when the turn is forgotten whose words it carried, it takes those of another that states it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from rearview.domain.errors import Conflict
from rearview.domain.forget import Forget, ForgetMemories
from rearview.domain.memory import Memory, Tier
from rearview.domain.principal import Scope
from rearview.ports.analyzer import Analysis, Analyzer
from rearview.ports.clock import Clock
from rearview.ports.fact_words import FactWords, StatingTurn
from rearview.ports.forgetting import Forgetting
from rearview.ports.tiering import Rehydrator
from rearview.writer.facts.turn_facts import FactMaker

PRINCIPAL = "writer"
"""In whose name a fact is forgotten that nothing bears out any more."""


class FactRestater:
    """The job `restate_fact`. Running one again changes nothing but the version."""

    def __init__(
        self,
        words: FactWords,
        facts: FactMaker,
        analyzer: Analyzer,
        forgetting: Forgetting,
        rehydrator: Rehydrator,
        clock: Clock,
    ) -> None:
        self._words = words
        self._facts = facts
        self._analyzer = analyzer
        self._forgetting = forgetting
        self._rehydrator = rehydrator
        self._clock = clock

    async def restate(self, tenant_id: UUID, namespace_id: UUID, memory_id: UUID) -> None:
        """Give a fact the words of the first turn or memory that states it; without any, it is forgotten.

        Raises:
            ModelUnavailable: a model cannot read or embed now; the job is tried again.
            Conflict: the fact changed meanwhile, or what states it was cold; the job is tried again.
            Unavailable: the database cannot be reached.
        """
        worded = await self._words.read(tenant_id, namespace_id, memory_id)
        if worded is None:
            return
        if cold := [memory.memory_id for memory in worded.memories if memory.tier is Tier.COLD]:
            await self._rehydrator.rehydrate(tenant_id, namespace_id, cold)
            raise Conflict("what states the fact had to be brought back", retry_after_seconds=0.1)
        scope = Scope(tenant_id, namespace_id, worded.namespace, PRINCIPAL)
        said: Sequence[StatingTurn | Memory] = sorted((*worded.turns, *worded.memories), key=_moment)
        for one, analysis in zip(said, await self._analysed(said), strict=True):
            now = self._clock.now()
            stated = await self._facts.of_same_claim(scope, worded.fact, one, analysis, now)
            if stated is not None:
                await self._words.replace(tenant_id, namespace_id, worded.fact, stated, now=now)
                return
        # What it was read from needed words that are forgotten: "yes", as an answer to a question.
        command = Forget(worded.namespace, ForgetMemories((memory_id,)), reason="nothing states it any more")
        await self._forgetting.forget(scope, command, now=self._clock.now())

    async def _analysed(self, said: Sequence[StatingTurn | Memory]) -> Sequence[Analysis]:
        return await asyncio.to_thread(
            self._analyzer.analyze_batch,
            [one.content if isinstance(one, Memory) else one.turn.searchable_text for one in said],
            references=[_moment(one) for one in said],
            roles=["user" if isinstance(one, Memory) else one.turn.role.name.lower() for one in said],
        )


def _moment(one: StatingTurn | Memory) -> datetime:
    return one.occurred_at if isinstance(one, Memory) else one.turn.occurred_at
