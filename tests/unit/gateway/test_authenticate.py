"""From a key to the principal it speaks for."""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from rearview.domain.errors import CredentialExpired, CredentialInvalid, RearviewError, TenantDisabled
from rearview.domain.principal import Role
from rearview.gateway import authenticate
from rearview.gateway.api_key import hash_secret, make_key
from rearview.gateway.authenticate import Authenticator
from rearview.ports.credential_store import StoredCredential, StoredTenant

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OPERATOR_KEY = make_key().text


class FixedClock:
    def now(self) -> datetime:
        return NOW


class KeysInMemory:
    """Implements `CredentialStore`; counts look-ups."""

    def __init__(self, **stored: StoredCredential) -> None:
        self._stored = stored
        self.lookups: list[str] = []

    async def find(self, key_id: str) -> Sequence[StoredCredential]:
        self.lookups.append(key_id)
        return [self._stored[key_id]] if key_id in self._stored else []

    async def find_tenant(self, name: str) -> StoredTenant | None:
        return None


MADE = make_key()
STORED = StoredCredential(
    tenant_id=uuid4(),
    tenant_disabled=False,
    requests_per_second=0,
    secret_hash=MADE.secret_hash,
    principal="agent",
    role=Role.WRITE,
    namespaces=("notes",),
    expires_at=None,
    revoked_at=None,
)


def bearer(key: str) -> list[tuple[str, str | bytes]]:
    return [("authorization", f"Bearer {key}")]


async def authenticated(stored: StoredCredential, key: str = MADE.text) -> object:
    authenticator = Authenticator(KeysInMemory(**{MADE.key_id: stored}), OPERATOR_KEY, FixedClock())
    return await authenticator.authenticate(bearer(key))


async def test_a_good_key_speaks_for_its_principal() -> None:
    credential = await Authenticator(KeysInMemory(**{MADE.key_id: STORED}), None, FixedClock()).authenticate(
        bearer(MADE.text)
    )
    assert (credential.tenant_id, credential.principal, credential.role) == (STORED.tenant_id, "agent", Role.WRITE)
    assert credential.reader().namespaces == ("notes",)


async def test_the_operators_key_needs_no_store_and_has_no_tenant() -> None:
    keys = KeysInMemory()
    credential = await Authenticator(keys, OPERATOR_KEY, FixedClock()).authenticate(bearer(OPERATOR_KEY))
    assert (credential.tenant_id, credential.role) == (None, Role.OPERATOR)
    assert keys.lookups == []
    with pytest.raises(CredentialInvalid):
        await Authenticator(keys, None, FixedClock()).authenticate(bearer(OPERATOR_KEY))


async def test_an_unknown_key_and_a_wrong_secret_are_looked_up_alike_and_told_alike() -> None:
    keys = KeysInMemory(**{MADE.key_id: STORED})
    authenticator = Authenticator(keys, OPERATOR_KEY, FixedClock())
    told = []
    for key in (f"rv_{'a' * 16}_{'0' * 64}", f"rv_{MADE.key_id}_{'0' * 64}"):
        with pytest.raises(CredentialInvalid) as caught:
            await authenticator.authenticate(bearer(key))
        told.append((caught.value.message, caught.value.metadata))
    assert told[0] == told[1]
    assert len(keys.lookups) == 2


async def test_every_refused_key_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the steps that are taken, since a clock would tell of the machine."""
    steps: list[str] = []

    def noted(name: str, step: Callable[..., object]) -> Callable[..., object]:
        def take(*arguments: object) -> object:
            steps.append(name)
            return step(*arguments)

        return take

    monkeypatch.setattr(authenticate, "hash_secret", noted("hash", hash_secret))
    monkeypatch.setattr(hmac, "compare_digest", noted("compare", hmac.compare_digest))
    wrong = f"rv_{MADE.key_id}_{'0' * 64}"
    taken = []
    for stored, key in (
        (STORED, f"rv_{'a' * 16}_{'0' * 64}"),
        (STORED, wrong),
        (replace(STORED, revoked_at=NOW), wrong),
        (replace(STORED, revoked_at=NOW), MADE.text),
    ):
        steps.clear()
        with pytest.raises(CredentialInvalid):
            await authenticated(stored, key)
        taken.append(tuple(steps))
    assert set(taken) == {("hash", "compare")}


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        (replace(STORED, revoked_at=NOW - timedelta(days=1)), CredentialInvalid),
        (replace(STORED, expires_at=NOW), CredentialExpired),
        (replace(STORED, tenant_disabled=True), TenantDisabled),
    ],
)
async def test_keys_that_have_ended(stored: StoredCredential, error: type[RearviewError]) -> None:
    with pytest.raises(error):
        await authenticated(stored)
    # Whoever lacks the secret does not learn why.
    with pytest.raises(CredentialInvalid):
        await authenticated(stored, f"rv_{MADE.key_id}_{'0' * 64}")


async def test_a_key_works_until_the_moment_it_expires() -> None:
    await authenticated(replace(STORED, expires_at=NOW + timedelta(microseconds=1)))


async def test_keys_of_one_id_are_told_apart_by_their_secrets() -> None:
    class Twins(KeysInMemory):
        async def find(self, key_id: str) -> Sequence[StoredCredential]:
            return [replace(STORED, secret_hash=hash_secret("x" * 64), principal="other"), STORED]

    credential = await Authenticator(Twins(), None, FixedClock()).authenticate(bearer(MADE.text))
    assert credential.principal == "agent"


def test_a_malformed_operator_key_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="operator's key"):
        Authenticator(KeysInMemory(), "letmein", FixedClock())
