"""Changes what is redacted for a tenant, and whether originals are kept."""

from rearview.domain.errors import PreconditionFailed
from rearview.domain.principal import Caller
from rearview.domain.redaction import PolicyChanges, TenantPolicy
from rearview.ports.clock import Clock
from rearview.ports.policies import PolicyStore


class UpdatePolicy:
    """Changes the policy of the caller's tenant; writes follow it within seconds."""

    def __init__(self, policies: PolicyStore, clock: Clock, *, has_vault: bool) -> None:
        self._policies = policies
        self._clock = clock
        self._has_vault = has_vault

    async def __call__(self, caller: Caller, changes: PolicyChanges) -> TenantPolicy:
        """Return the policy as it is now.

        Raises:
            PreconditionFailed: the vault is to be turned on where no key for it is configured.
            EtagMismatch: the policy is of another version.
            Unavailable: the store does not answer.
        """
        if changes.vault and not self._has_vault:
            raise PreconditionFailed(
                "the vault cannot be turned on: the platform has no key for it (REARVIEW_VAULT_KEY)",
                resource_name="policy",
                state="NO_VAULT_KEY",
            )
        return await self._policies.update(caller, changes, self._clock.now())
