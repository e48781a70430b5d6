"""A rescan: what is stored is rewritten by the redaction policy of today, until a pass finds nothing more."""

from datetime import timedelta
from uuid import UUID

from rearview.domain.errors import Conflict, LegalHold, PreconditionFailed
from rearview.domain.ids import new_id
from rearview.domain.operation import Operation, OperationKind
from rearview.domain.principal import Caller
from rearview.domain.redaction import TenantPolicy
from rearview.domain.rescan import RescanReceipt
from rearview.lifecycle.rescan_pass import RescanParts, RescanPass
from rearview.ports.policies import PolicyStore

_MOST_PASSES = 12
"""A model may see another name once the first is gone, and texts may change while they are rewritten."""


class Rescanner:
    """Begins rescans and carries them out. The last pass begins when `settle` has gone by since the beginning, so that
    it sees what was being written by the policy before."""

    def __init__(self, parts: RescanParts, policies: PolicyStore, *, settle: timedelta) -> None:
        self._parts = parts
        self._policies = policies
        self._settle = settle

    async def begin(self, caller: Caller, tenant_id: UUID, *, dry_run: bool) -> Operation:
        """Begin a rescan, or one that only counts.

        Raises:
            LegalHold: something is held, and would be rewritten.
            PreconditionFailed: originals are to be kept, and there is no key to seal them with.
            Unavailable: the database does not answer.
        """
        if not dry_run:
            await self._allow(tenant_id, await self._policies.get(tenant_id))
        operation = Operation(new_id(), OperationKind.RESCAN, self._parts.clock.now(), {"dry_run": dry_run})
        return await self._parts.operations.begin(caller, tenant_id, operation)

    async def carry_out(self, tenant_id: UUID, operation: Operation) -> bool:
        """Rewrite what there is; return whether it has come to its end, else it comes back by itself.

        Raises:
            LegalHold, PreconditionFailed: as `begin`.
            InvalidFields: a payload is nested too deep to be redacted.
            Conflict, Unavailable, DeadlineExceeded, ModelError: another run goes on from here.
        """
        parts, operation_id = self._parts, operation.operation_id
        dry_run = bool(operation.arguments["dry_run"])
        settled_at = operation.started_at + self._settle
        parts.faults.reach("rescan.begun")
        for _ in range(_MOST_PASSES):
            policy = await self._policies.get(tenant_id)
            if not dry_run:
                await self._allow(tenant_id, policy)
            settled = parts.clock.now() >= settled_at
            done = (await parts.operations.get(tenant_id, operation_id)).completed
            await parts.operations.expect(tenant_id, operation_id, done + await parts.store.size(tenant_id))
            one = RescanPass(parts, tenant_id, operation, policy.redaction, dry_run=dry_run)
            await one.run()
            parts.faults.reach("rescan.passed")
            if dry_run:
                return True
            if not settled:
                await parts.store.come_back(tenant_id, operation_id, settled_at)
                return False
            if not one.found:
                await self._verified(tenant_id, operation_id, policy)
                return True
        raise Conflict("texts change faster than they can be rewritten", retry_after_seconds=10.0)

    async def _verified(self, tenant_id: UUID, operation_id: UUID, policy: TenantPolicy) -> None:
        parts = self._parts
        counts = (await parts.operations.get(tenant_id, operation_id)).counts
        categories = tuple(sorted(category.value for category in policy.redaction.categories))
        receipt = RescanReceipt(operation_id, policy.version, categories, counts, parts.clock.now())
        await parts.store.verified(tenant_id, receipt)
        parts.faults.reach("rescan.verified")

    async def _allow(self, tenant_id: UUID, policy: TenantPolicy) -> None:
        hold_id = await self._parts.store.held(tenant_id)
        if hold_id is not None:
            raise LegalHold(
                "a legal hold stands in the tenant, and a rescan would rewrite what is held: lift the hold first",
                resource_name=f"legalHolds/{hold_id}",
            )
        if policy.redaction.vault and self._parts.redaction.sealer is None:
            raise PreconditionFailed(
                "the policy has originals kept, and the lifecycle service has no key to seal them (REARVIEW_VAULT_KEY)",
                resource_name="policy",
                state="NO_VAULT_KEY",
            )
