"""Forgetting by request: marked at once, purged after the grace period by the lifecycle service."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from rearview.domain.errors import Unavailable
from rearview.domain.forget import Forget, ForgetReceipt
from rearview.domain.principal import Scope
from rearview.ports.clock import Clock
from rearview.ports.forgetting import Forgetting, ForgottenTurns
from rearview.ports.handed_out import HandedOut
from rearview.ports.working_memory import WorkingMemory
from rearview.writer.redaction import Redaction, RedactionParts


class Forgetter:
    """The use cases of `Forget` and `Restore`, and the job `clear_working_memory`."""

    def __init__(
        self,
        forgetting: Forgetting,
        working_memory: WorkingMemory,
        handed_out: HandedOut,
        redaction: RedactionParts,
        clock: Clock,
    ) -> None:
        self._forgetting = forgetting
        self._redaction = redaction
        self._working_memory = working_memory
        self._handed_out = handed_out
        self._clock = clock

    async def forget(self, scope: Scope, command: Forget) -> ForgetReceipt:
        """Forget; from the answer on, nothing of it is returned.

        Raises:
            NotFound: a memory or the session is not there, or forgotten already; then nothing was changed.
            RequestIdReused: the request id stands for another request.
            Unavailable: repeat the request.
        """
        policy = await self._redaction.policies.redaction(scope.tenant_id)
        redaction = Redaction(self._redaction.redactor, policy.categories)
        redacted = replace(command, reason=await asyncio.to_thread(redaction.text, command.reason))
        forgotten = await self._forgetting.forget(scope, redacted, now=self._clock.now())
        with suppress(Unavailable):  # the job that the transaction enqueued goes on until Redis is back
            await self._clear(forgotten.turns)
            await self._handed_out.clear(scope.tenant_id, scope.namespace_id)
        return forgotten.receipt

    async def receipt(self, tenant_id: UUID, receipt_id: UUID) -> ForgetReceipt:
        """Return a receipt; whether its namespace may be reached is for the caller to check.

        Raises:
            NotFound: there is none.
        """
        return await self._forgetting.receipt(tenant_id, receipt_id)

    async def restore(self, scope: Scope, receipt_id: UUID) -> ForgetReceipt:
        """Take a forget back. Working memory stays cleared: it lapses within a day anyway.

        Raises:
            NotFound: the namespace has no such receipt.
            PreconditionFailed: the purge has begun.
        """
        return await self._forgetting.restore(scope, receipt_id, now=self._clock.now())

    async def clear_working_memory(self, tenant_id: UUID, receipt_id: UUID) -> None:
        """Clear working memory of what a receipt's forget took; doing it again changes nothing.

        Raises:
            Unavailable: Redis does not answer; the job is tried again.
        """
        turns = await self._forgetting.turns_of(tenant_id, receipt_id)
        await self._clear(turns)
        for namespace_id in {forgotten.session.namespace_id for forgotten in turns}:
            await self._handed_out.clear(tenant_id, namespace_id)

    async def _clear(self, turns: Iterable[ForgottenTurns]) -> None:
        for forgotten in turns:
            await self._working_memory.forget(
                forgotten.session, forgotten.event_ids, through_sequence=forgotten.through_sequence
            )
