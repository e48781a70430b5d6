"""From a key to the principal it speaks for."""

import hmac
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from rearview.domain.errors import CredentialExpired, CredentialInvalid, RearviewError, TenantDisabled
from rearview.domain.principal import Role
from rearview.gateway import authenticate
from rearview.gateway.api_key import hash_secret, make_key
from rearview.gateway.authenticate import Authenticator
from rearview.gateway.known_access import KnownAccess
from rearview.ports.access_states import AccessState
from rearview.ports.credential_store import StoredCredential, StoredTenant

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OPERATOR_KEY = make_key().text


class FixedClock:
    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


class KeysInMemory:
    """Implements `CredentialStore`, counting look-ups, and `AccessStates` for one tenant."""

    def __init__(self, **stored: StoredCredential) -> None:
        self._stored = stored
        self.lookups: list[str] = []
        self.version: UUID | None = None
        self.asked: list[tuple[UUID, tuple[UUID, ...]]] = []

    async def now(self, tenant_id: UUID, namespace_ids: Collection[UUID]) -> AccessState:
        self.asked.append((tenant_id, tuple(namespace_ids)))
        return AccessState(self.version)

    async def find(self, key_id: str) -> Sequence[StoredCredential]:
        self.lookups.append(key_id)
        return [replace(self._stored[key_id], access_version=self.version)] if key_id in self._stored else []

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


def authenticator_of(keys: KeysInMemory, operator_key: str | None = OPERATOR_KEY) -> Authenticator:
    return Authenticator(keys, keys, operator_key, FixedClock())


async def authenticated(stored: StoredCredential, key: str = MADE.text) -> object:
    return await authenticator_of(KeysInMemory(**{MADE.key_id: stored})).authenticate(bearer(key))


async def test_a_good_key_speaks_for_its_principal() -> None:
    keys = KeysInMemory(**{MADE.key_id: STORED})
    credential = (await authenticator_of(keys, None).authenticate(bearer(MADE.text))).credential
    assert (credential.tenant_id, credential.principal, credential.role) == (STORED.tenant_id, "agent", Role.WRITE)
    assert credential.reader().namespaces == ("notes",)


async def test_the_operators_key_needs_no_store_and_has_no_tenant() -> None:
    keys = KeysInMemory()
    credential = (await authenticator_of(keys).authenticate(bearer(OPERATOR_KEY))).credential
    assert (credential.tenant_id, credential.role) == (None, Role.OPERATOR)
    assert keys.lookups == []
    with pytest.raises(CredentialInvalid):
        await authenticator_of(keys, None).authenticate(bearer(OPERATOR_KEY))


async def test_an_unknown_key_and_a_wrong_secret_are_looked_up_alike_and_told_alike() -> None:
    keys = KeysInMemory(**{MADE.key_id: STORED})
    authenticator = authenticator_of(keys)
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

    credential = (await authenticator_of(Twins()).authenticate(bearer(MADE.text))).credential
    assert credential.principal == "agent"


def test_a_malformed_operator_key_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="operator's key"):
        authenticator_of(KeysInMemory(), "letmein")


async def test_a_known_key_is_looked_up_again_only_when_something_has_changed() -> None:
    keys, namespace = KeysInMemory(**{MADE.key_id: STORED}), uuid4()
    authenticator = authenticator_of(keys)

    async def lookups_of(calls: int) -> int:
        keys.lookups.clear()
        for _ in range(calls):
            await authenticator.authenticate(bearer(MADE.text), lambda _: [namespace])
        return len(keys.lookups)

    assert await lookups_of(3) == 3  # a tenant without a version: nothing can be known to be unchanged
    assert keys.asked == []
    for _ in range(2):
        keys.version = uuid4()
        assert await lookups_of(4) == 1
    assert keys.asked[-1] == (STORED.tenant_id, (namespace,))
    keys.version = None
    assert await lookups_of(2) == 2


async def test_of_a_known_key_time_and_secret_are_judged_by_every_call() -> None:
    keys = KeysInMemory(**{MADE.key_id: replace(STORED, expires_at=NOW + timedelta(seconds=1))})
    keys.version = uuid4()
    clock = FixedClock()
    authenticator = Authenticator(keys, keys, None, clock)
    for _ in range(2):
        await authenticator.authenticate(bearer(MADE.text))
    asked = len(keys.asked)
    with pytest.raises(CredentialInvalid):
        await authenticator.authenticate(bearer(f"rv_{MADE.key_id}_{'0' * 64}"))
    # A wrong secret takes the way of an unknown key, though the key of this id is known.
    assert (len(keys.asked), len(keys.lookups)) == (asked, 2)
    clock.moment += timedelta(seconds=1)
    with pytest.raises(CredentialExpired):
        await authenticator.authenticate(bearer(MADE.text))


def test_what_is_known_is_bounded_in_number_and_time() -> None:
    now, version = [0.0], uuid4()
    known = KnownAccess[int](most=2, lifetime_seconds=10, monotonic=lambda: now[0])
    known.keep("unversioned", None, 0)
    for at in range(3):
        known.keep(at, version, at)
    found = [known.get(each) for each in ("unversioned", 0, 1, 2)]
    assert [each and (each.version, each.value) for each in found] == [None, None, (version, 1), (version, 2)]
    now[0] = 10.0
    assert known.get(2) is None
