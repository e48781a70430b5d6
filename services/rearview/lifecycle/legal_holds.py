"""Setting, lifting and listing legal holds."""

import asyncio
from dataclasses import replace
from uuid import UUID

from rearview.domain.errors import invalid_field
from rearview.domain.legal_hold import HoldScope, HoldTarget, SetHold, StandingHold
from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Scope
from rearview.domain.subject_names import SubjectNames
from rearview.domain.text import PiiCategory
from rearview.ports.clock import Clock
from rearview.ports.legal_holds import LegalHoldStore
from rearview.ports.policies import RedactionPolicies
from rearview.ports.redactor import Redactor

_BY_MODEL = frozenset({PiiCategory.PERSON, PiiCategory.ORGANISATION})
"""Found by language models only, which this service does not load; and a hold is on somebody's account."""


class LegalHolds:
    """The use cases of `SetLegalHold` and `ListLegalHolds`."""

    def __init__(
        self,
        store: LegalHoldStore,
        redactor: Redactor,
        policies: RedactionPolicies,
        names: SubjectNames,
        clock: Clock,
    ) -> None:
        self._store = store
        self._redactor = redactor
        self._policies = policies
        self._names = names
        self._clock = clock

    async def set(self, scope: Scope, command: SetHold) -> None:
        """Set or lift a hold.

        Raises:
            InvalidFields: the subject is something that is redacted, so that nothing stored names it.
            NotFound: there is no such memory or session, or no such hold to be lifted.
            Unavailable: repeat the request.
        """
        policy = await self._policies.redaction(scope.tenant_id)
        categories = [category for category in policy.categories if category not in _BY_MODEL]
        reason = (await asyncio.to_thread(self._redactor.redact, command.reason, categories)).text
        target = command.target
        if target.scope is HoldScope.SUBJECT:
            if (await asyncio.to_thread(self._redactor.redact, target.target, categories)).text != target.target:
                raise invalid_field("subject", "is redacted wherever it is said, so nothing stored names it")
            target = self._understood(target)
        redacted = replace(command, target=target, reason=reason)
        if command.held:
            await self._store.set(scope, redacted, now=self._clock.now())
        else:
            await self._store.lift(scope, redacted, now=self._clock.now())

    async def standing(self, tenant_id: UUID, namespace_id: UUID | None, page: PageRequest) -> Page[StandingHold]:
        """Return a page of the holds in a namespace, or in all (None), newest first. Raises: Unavailable."""
        return await self._store.standing(tenant_id, namespace_id, page)

    def _understood(self, target: HoldTarget) -> HoldTarget:
        names = self._names.spellings(target.target)
        telling = tuple(name for name in names if len(name) > 1 and name not in self._names.common)
        return replace(target, target=self._names.canonical(target.target), names=names, telling=telling)
