"""Forgetting by request: marked at once, purged after the grace period by the lifecycle service."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar
from uuid import UUID

from rearview.domain.errors import Conflict, InvalidConfirmationToken, NotFound, Unavailable
from rearview.domain.forget import (
    Forget,
    ForgetFilter,
    ForgetPreview,
    ForgetQuery,
    ForgetReceipt,
    ForgetSubject,
    ForgetTarget,
)
from rearview.domain.principal import Scope
from rearview.domain.subject_names import SubjectNames
from rearview.ports.clock import Clock
from rearview.ports.forgetting import Forgetting, ForgottenTurns, NotHot
from rearview.ports.handed_out import HandedOut
from rearview.ports.tiering import Rehydrator
from rearview.ports.working_memory import WorkingMemory
from rearview.redaction.texts import Redaction, RedactionParts
from rearview.writer.confirmation import Confirmations, missing_token

_MOST_ATTEMPTS = 5
_Result = TypeVar("_Result")


class Forgetter:
    """The use cases of `Forget` and `Restore`, and the job `clear_working_memory`."""

    def __init__(
        self,
        forgetting: Forgetting,
        working_memory: WorkingMemory,
        handed_out: HandedOut,
        redaction: RedactionParts,
        rehydrator: Rehydrator,
        confirmations: Confirmations,
        names: SubjectNames,
        clock: Clock,
    ) -> None:
        self._forgetting = forgetting
        self._redaction = redaction
        self._working_memory = working_memory
        self._handed_out = handed_out
        self._rehydrator = rehydrator
        self._confirmations = confirmations
        self._names = names
        self._clock = clock

    async def preview(self, scope: Scope, command: Forget) -> ForgetPreview:
        """Return what `forget` would take now, and the token that confirms exactly that. Changes nothing.

        Raises:
            NotFound: as for `forget`.
            InvalidFields: the target selects too much.
            Unavailable: repeat the request.
        """
        target = self._understood(command.target)
        selection = await self._with_hot(scope, lambda: self._forgetting.preview(scope, target))
        token = self._confirmations.issue(scope, target, selection, self._clock.now())
        return ForgetPreview(command.namespace, selection, token)

    async def forget(self, scope: Scope, command: Forget) -> ForgetReceipt:
        """Forget; from the answer on, nothing of it is returned.

        Raises:
            NotFound: a memory, the session or its turns are not there, or forgotten already; then nothing was changed.
            InvalidConfirmationToken: there is none for a query, or it does not confirm what would go now.
            InvalidFields: the target selects too much.
            Conflict: what it selects kept changing.
            LegalHold: one stands on something that would go; then nothing was changed.
            RequestIdReused: the request id stands for another request.
            Unavailable: repeat the request.
        """
        policy = await self._redaction.policies.redaction(scope.tenant_id)
        redaction = Redaction(self._redaction.redactor, policy.categories)
        target, token = self._understood(command.target), command.confirmation_token
        if isinstance(target, ForgetQuery):
            if not token:
                raise missing_token()
            target = replace(target, found=self._confirmations.found(token))
        reason = await asyncio.to_thread(redaction.text, command.reason)
        redacted = replace(command, reason=reason, target=target)
        now = self._clock.now()
        confirm = partial(self._confirmations.check, token, scope, target, now=now) if token else None
        try:
            forgotten = await self._with_hot(
                scope, lambda: self._forgetting.forget(scope, redacted, now=now, confirm=confirm)
            )
        except NotFound:
            if token:  # it was there when the token was issued
                raise InvalidConfirmationToken(
                    "what the confirmation token would forget has changed; ask for a preview again"
                ) from None
            raise
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
        now = self._clock.now()
        return await self._with_hot(scope, lambda: self._forgetting.restore(scope, receipt_id, now=now))

    async def clear_working_memory(self, tenant_id: UUID, receipt_id: UUID) -> None:
        """Clear working memory of what a receipt's forget took; doing it again changes nothing.

        Raises:
            Unavailable: Redis does not answer; the job is tried again.
        """
        turns = await self._forgetting.turns_of(tenant_id, receipt_id)
        await self._clear(turns)
        for namespace_id in {forgotten.session.namespace_id for forgotten in turns}:
            await self._handed_out.clear(tenant_id, namespace_id)

    def _understood(self, target: ForgetTarget) -> ForgetTarget:
        if isinstance(target, ForgetSubject):
            return replace(
                target,
                key=self._names.canonical(target.subject),
                names=self._names.spellings(target.subject),
                common=self._names.common,
            )
        if isinstance(target, ForgetFilter):
            return replace(target, entity_keys=tuple(map(self._names.canonical, target.filter.entities)))
        return target

    async def _with_hot(self, scope: Scope, change: Callable[[], Awaitable[_Result]]) -> _Result:
        """Make a change; episodes that it writes anew are brought back first where they are cold."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                return await change()
            except NotHot as cold:
                await self._rehydrator.rehydrate(scope.tenant_id, scope.namespace_id, cold.memory_ids)
        raise Conflict("episodes went cold again; repeat the request", retry_after_seconds=0.5)

    async def _clear(self, turns: Iterable[ForgottenTurns]) -> None:
        for forgotten in turns:
            await self._working_memory.forget(
                forgotten.session, forgotten.event_ids, through_sequence=forgotten.through_sequence
            )
