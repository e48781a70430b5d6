"""From a credential - an API key, or a token of an issuer - to the principal it speaks for."""

import hmac
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.domain.errors import CredentialExpired, RoleInsufficient, TenantDisabled
from rearview.domain.principal import Access, Role
from rearview.gateway.api_key import PresentedKey, hash_secret, parse_key
from rearview.gateway.known_access import Known, KnownAccess
from rearview.gateway.presented_credential import invalid_credential, presented_credential
from rearview.gateway.tokens.claims import TokenIdentity, bad_claim
from rearview.gateway.tokens.verify_token import TokenVerifier, is_token, refused
from rearview.ports.access_states import AccessState, AccessStates
from rearview.ports.clock import Clock
from rearview.ports.credential_store import CredentialStore, StoredCredential, StoredTenant
from rearview.ports.tenancy_store import Reader

OPERATOR = "operator"

_NO_HASH = bytes(32)


@dataclass(frozen=True, slots=True)
class Credential:
    """Whom a proven credential speaks for. `tenant_id` is None for the operator only; `namespaces` empty means wherever
    the principal has access; `grants` is access that the credential brings beside what is stored. Of the
    requests a second that its tenant and its key may make, 0 is not set; a token has no `key_id`."""

    tenant_id: UUID | None
    principal: str
    role: Role
    namespaces: tuple[str, ...] = ()
    grants: Mapping[str, Access] = field(default_factory=dict)
    key_id: str = ""
    requests_per_second: int = 0
    key_requests_per_second: int = 0

    def reader(self) -> Reader:
        """Return whose access to namespaces is asked about. Raises: RoleInsufficient: the operator reaches none."""
        if self.tenant_id is None:
            raise RoleInsufficient("the operator belongs to no tenant", role=self.role.value)
        return Reader(self.tenant_id, self.principal, self.role, self.namespaces, self.grants)


Expecting = Callable[[Credential], Collection[UUID]]
"""The namespaces whose epochs a call will ask for, if it comes with this credential."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A credential that holds, and the state of its tenant that was read with it or after it."""

    credential: Credential
    state: AccessState


class Authenticator:
    """Proves credentials. The operator's key comes from the configuration, all others from the store; without
    `tokens` no token is accepted. Keys and tenants that are known already are not read again while `states` says that
    nothing has changed."""

    def __init__(
        self,
        credentials: CredentialStore,
        states: AccessStates,
        operator_key: str | None,
        clock: Clock,
        tokens: TokenVerifier | None = None,
    ) -> None:
        """Raises: ValueError: the operator's key is not of the form of a key."""
        self._tokens = tokens
        self._credentials = credentials
        self._states = states
        self._keys: KnownAccess[StoredCredential] = KnownAccess()
        self._tenants: KnownAccess[StoredTenant] = KnownAccess()
        self._clock = clock
        self._operator = None if operator_key is None else parse_key(operator_key)
        if operator_key is not None and self._operator is None:
            raise ValueError("the operator's key must have the form rv_<key id>_<secret>")

    async def authenticate(
        self, metadata: Iterable[tuple[str, str | bytes]], expecting: Expecting = lambda _: ()
    ) -> Proven:
        """Return whom the call's credential speaks for. If it is known, the epochs of what is `expecting` are read in
        the same round trip.

        An unknown key and a wrong secret cost the same work and give the same answer. What is wrong with a key
        (expired, tenant disabled) is told only to those who hold its secret.

        Raises:
            CredentialMissing: none came with the call.
            CredentialInvalid: it is unknown, malformed or revoked; of a token the metadata `problem` says more.
            CredentialExpired: it has expired.
            TenantDisabled: its tenant is disabled.
            Unavailable: the store does not answer, or the keys of tokens cannot be read.
        """
        presented = presented_credential(metadata)
        key = parse_key(presented)
        if key is not None:
            return await self._of_key(key, expecting)
        if is_token(presented):
            return await self._of_token(presented, expecting)
        raise invalid_credential()

    async def _of_token(self, token: str, expecting: Expecting) -> Proven:
        if self._tokens is None:
            raise refused("not_accepted", "cannot be accepted: no issuer is configured; use an API key")
        identity = await self._tokens.verify(token)
        known = self._tenants.get(identity.tenant)
        if known is not None:
            credential = _of_identity(identity, known.value)
            state = await self._unchanged(known, credential, expecting)
            if state is not None:
                return Proven(credential, state)
        tenant = await self._credentials.find_tenant(identity.tenant)
        if tenant is None:
            raise bad_claim("tenant", "names no tenant")
        if tenant.disabled:
            raise TenantDisabled("the tenant is disabled")
        self._tenants.keep(identity.tenant, tenant.access_version, tenant)
        return Proven(_of_identity(identity, tenant), AccessState(tenant.access_version))

    async def _of_key(self, key: PresentedKey, expecting: Expecting) -> Proven:
        presented_hash = hash_secret(key.secret)
        if self._operator is not None and key.key_id == self._operator.key_id:
            if not hmac.compare_digest(presented_hash, hash_secret(self._operator.secret)):
                raise invalid_credential()
            return Proven(Credential(None, OPERATOR, Role.OPERATOR), AccessState())
        # With the secret's hash: of a known key, too, a wrong secret costs what an unknown key costs.
        place = (key.key_id, presented_hash)
        known = self._keys.get(place)
        if known is not None:
            credential = _of_stored(key.key_id, known.value)
            state = await self._unchanged(known, credential, expecting)
            if state is not None:
                _check_usable(known.value, self._clock.now())
                return Proven(credential, state)
        matching = _matching(await self._credentials.find(key.key_id), presented_hash)
        if matching is None:
            raise invalid_credential()
        _check_usable(matching, self._clock.now())
        self._keys.keep(place, matching.access_version, matching)
        return Proven(_of_stored(key.key_id, matching), AccessState(matching.access_version))

    async def _unchanged(self, known: Known[Any], credential: Credential, expecting: Expecting) -> AccessState | None:
        """Return the state of the credential's tenant, None if anything has changed since it became known."""
        if credential.tenant_id is None:
            return None
        state = await self._states.now(credential.tenant_id, expecting(credential))
        return state if state.version == known.version else None


def _matching(stored: Iterable[StoredCredential], presented_hash: bytes) -> StoredCredential | None:
    found = None
    candidates = list(stored)
    for candidate in candidates:
        if hmac.compare_digest(candidate.secret_hash, presented_hash):
            found = candidate
    if not candidates:
        hmac.compare_digest(_NO_HASH, presented_hash)  # an unknown key costs what a wrong secret costs
    return found


def _check_usable(stored: StoredCredential, now: datetime) -> None:
    if stored.revoked_at is not None:
        raise invalid_credential()
    if stored.expires_at is not None and stored.expires_at <= now:
        raise CredentialExpired("the credential has expired", expire_time=stored.expires_at.isoformat())
    if stored.tenant_disabled:
        raise TenantDisabled("the tenant is disabled")


def _of_stored(key_id: str, stored: StoredCredential) -> Credential:
    return Credential(
        stored.tenant_id,
        stored.principal,
        stored.role,
        stored.namespaces,
        key_id=key_id,
        requests_per_second=stored.requests_per_second,
        key_requests_per_second=stored.key_requests_per_second,
    )


def _of_identity(identity: TokenIdentity, tenant: StoredTenant) -> Credential:
    return Credential(
        tenant.tenant_id,
        identity.principal,
        identity.role,
        identity.namespaces,
        identity.grants,
        requests_per_second=tenant.requests_per_second,
    )
