"""From a credential - an API key, or a token of an issuer - to the principal it speaks for."""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from rearview.domain.errors import CredentialExpired, RoleInsufficient, TenantDisabled
from rearview.domain.principal import Access, Role
from rearview.gateway.api_key import PresentedKey, hash_secret, parse_key
from rearview.gateway.presented_credential import invalid_credential, presented_credential
from rearview.gateway.tokens.claims import bad_claim
from rearview.gateway.tokens.verify_token import TokenVerifier, is_token, refused
from rearview.ports.clock import Clock
from rearview.ports.credential_store import CredentialStore, StoredCredential
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


class Authenticator:
    """Proves credentials. The operator's key comes from the configuration, all others from the store; without
    `tokens` no token is accepted."""

    def __init__(
        self,
        credentials: CredentialStore,
        operator_key: str | None,
        clock: Clock,
        tokens: TokenVerifier | None = None,
    ) -> None:
        """Raises: ValueError: the operator's key is not of the form of a key."""
        self._tokens = tokens
        self._credentials = credentials
        self._clock = clock
        self._operator = None if operator_key is None else parse_key(operator_key)
        if operator_key is not None and self._operator is None:
            raise ValueError("the operator's key must have the form rv_<key id>_<secret>")

    async def authenticate(self, metadata: Iterable[tuple[str, str | bytes]]) -> Credential:
        """Return whom the call's credential speaks for.

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
            return await self._of_key(key)
        if is_token(presented):
            return await self._of_token(presented)
        raise invalid_credential()

    async def _of_token(self, token: str) -> Credential:
        if self._tokens is None:
            raise refused("not_accepted", "cannot be accepted: no issuer is configured; use an API key")
        identity = await self._tokens.verify(token)
        tenant = await self._credentials.find_tenant(identity.tenant)
        if tenant is None:
            raise bad_claim("tenant", "names no tenant")
        if tenant.disabled:
            raise TenantDisabled("the tenant is disabled")
        return Credential(
            tenant.tenant_id,
            identity.principal,
            identity.role,
            identity.namespaces,
            identity.grants,
            requests_per_second=tenant.requests_per_second,
        )

    async def _of_key(self, key: PresentedKey) -> Credential:
        presented_hash = hash_secret(key.secret)
        if self._operator is not None and key.key_id == self._operator.key_id:
            if not hmac.compare_digest(presented_hash, hash_secret(self._operator.secret)):
                raise invalid_credential()
            return Credential(None, OPERATOR, Role.OPERATOR)
        stored = await self._credentials.find(key.key_id)
        matching = _matching(stored, presented_hash)
        if matching is None:
            raise invalid_credential()
        return _usable(key.key_id, matching, self._clock.now())


def _matching(stored: Iterable[StoredCredential], presented_hash: bytes) -> StoredCredential | None:
    found = None
    candidates = list(stored)
    for candidate in candidates:
        if hmac.compare_digest(candidate.secret_hash, presented_hash):
            found = candidate
    if not candidates:
        hmac.compare_digest(_NO_HASH, presented_hash)  # an unknown key costs what a wrong secret costs
    return found


def _usable(key_id: str, stored: StoredCredential, now: datetime) -> Credential:
    if stored.revoked_at is not None:
        raise invalid_credential()
    if stored.expires_at is not None and stored.expires_at <= now:
        raise CredentialExpired("the credential has expired", expire_time=stored.expires_at.isoformat())
    if stored.tenant_disabled:
        raise TenantDisabled("the tenant is disabled")
    return Credential(
        stored.tenant_id,
        stored.principal,
        stored.role,
        stored.namespaces,
        key_id=key_id,
        requests_per_second=stored.requests_per_second,
        key_requests_per_second=stored.key_requests_per_second,
    )
