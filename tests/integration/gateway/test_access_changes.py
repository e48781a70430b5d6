"""What is taken back is refused by the very next call, although the gateway remembers what it has read.

The same calls are judged twice over one database: by an authorizer that has served all calls before, and by a new one
that knows nothing and reads everything.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import grpc.aio
import psycopg
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask

from rearview.adapters.jwks.cached_keys import CachedSigningKeys
from rearview.adapters.jwks.sources import open_source
from rearview.adapters.postgres.access_states import PostgresAccessStates
from rearview.adapters.postgres.credentials import PostgresCredentialStore
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.epochs import PostgresEpochs
from rearview.adapters.postgres.namespace_directory import PostgresNamespaceDirectory
from rearview.domain.errors import RearviewError
from rearview.gateway.access_rules import ACCESS_RULES
from rearview.gateway.all_violations import AllViolations
from rearview.gateway.authenticate import Authenticator
from rearview.gateway.authorize import Authorizer, current_epochs
from rearview.gateway.tokens.claims import ClaimNames
from rearview.gateway.tokens.verify_token import TokenVerifier
from rearview.ports.credential_store import StoredCredential
from rearview.v1 import memory_service_pb2, namespace_pb2, recall_pb2, tenant_pb2
from tests.support.grpc_errors import code_of
from tests.support.issuer import AUDIENCE, ISSUER, running_issuer
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import SetClock

NAMES = ("default", "notes", "shared", "diary")
PRINCIPALS = ("ann", "bob")
STEPS = 60
CALLS_A_STEP = 8


class CountingStore(PostgresCredentialStore):
    """Counts how often a key is looked up."""

    lookups = 0

    async def find(self, key_id: str) -> Sequence[StoredCredential]:
        type(self).lookups += 1
        return await super().find(key_id)


def recall(name: str, *more: str) -> tuple[str, Any]:
    asked = recall_pb2.RecallRequest(
        parent=f"namespaces/{name}", query="问 what", additional_namespaces=[f"namespaces/{each}" for each in more]
    )
    return "/rearview.v1.MemoryService/Recall", asked


def append(name: str) -> tuple[str, Any]:
    asked = memory_service_pb2.AppendEventsRequest(parent=f"namespaces/{name}/sessions/s")
    return "/rearview.v1.MemoryService/AppendEvents", asked


@dataclass
class Judge:
    """Authorizers over one database: the one that remembers, and as many new ones as are asked for."""

    database: Database
    tokens: TokenVerifier | None = None
    clock: SetClock = field(default_factory=lambda: SetClock(datetime.now(UTC)))

    def __post_init__(self) -> None:
        self.remembering = self.new()

    def new(self, store: type[PostgresCredentialStore] = CountingStore) -> Authorizer:
        authenticator = Authenticator(
            store(self.database), PostgresAccessStates(self.database), None, self.clock, self.tokens
        )
        directory = PostgresNamespaceDirectory(self.database)
        return Authorizer(authenticator, directory, ACCESS_RULES, AllViolations(self.clock))

    async def outcome(self, authorizer: Authorizer, credential: str, call: tuple[str, Any]) -> Any:
        """Return who may make the call and what it reaches, or how it is refused."""

        async def judged() -> Any:
            try:
                await authorizer.admit(call[0], bearer(credential), call[1])
                caller = await authorizer.caller_of(call[1])
            except RearviewError as error:
                return type(error), error.message, error.metadata
            reached = [each.namespace_id for each in caller.namespaces.values()]
            read = {each: epoch for each, epoch in current_epochs().items() if each in reached}
            if caller.tenant_id and read:
                assert await PostgresEpochs(self.database, 3).read(caller.tenant_id, read) == read
            return caller.tenant_id, caller.principal, caller.role, caller.namespaces

        return await asyncio.create_task(judged())  # a call has a context of its own

    async def same(self, credential: str, call: tuple[str, Any]) -> Any:
        """Return the outcome, which has to be the same with everything read anew."""
        remembered = await self.outcome(self.remembering, credential, call)
        assert remembered == await self.outcome(self.new(PostgresCredentialStore), credential, call)
        return remembered


class Changes:
    """Random changes of who may do what, through the public API."""

    def __init__(self, gateway: RunningGateway, admin: str, clock: SetClock, choose: random.Random) -> None:
        self.gateway, self.admin, self.clock, self.choose = gateway, admin, clock, choose
        self.keys: list[str] = []
        self.disabled = False

    async def one(self) -> None:
        changes: list[Callable[[], Awaitable[object]]] = [
            *[self.create_key, self.revoke_key, self.rotate_key, self.grant, self.revoke, self.subscribe] * 2,
            *[self.create_namespace] * 3,
            *[self.unsubscribe, self.delete_namespace, self.show_or_hide, self.disable_or_enable, self.wait],
        ]
        change = self.disable_or_enable if self.disabled else self.choose.choice(changes)
        code = await code_of(change())  # there may be nothing to change
        assert code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.INVALID_ARGUMENT)

    def _of_admin(self) -> Any:
        return bearer(self.admin)

    def _name(self) -> str:
        return f"namespaces/{self.choose.choice(NAMES[1:])}"

    async def create_key(self) -> None:
        limits = tuple(self.choose.sample(NAMES[1:], self.choose.choice((0, 0, 1, 2))))
        role = self.choose.choice(("READ", "WRITE", "ADMIN", "ADMIN"))
        self.keys.append(await self.gateway.new_key(self.admin, self.choose.choice(PRINCIPALS), role, limits))

    async def revoke_key(self) -> None:
        name = f"apiKeys/{self.choose.choice(self.keys).split('_')[1]}"
        await self.gateway.tenants.RevokeApiKey(tenant_pb2.RevokeApiKeyRequest(name=name), metadata=self._of_admin())

    async def rotate_key(self) -> None:
        name = f"apiKeys/{self.choose.choice(self.keys).split('_')[1]}"
        overlap = Duration(seconds=self.choose.choice((0, 30)))
        made = await self.gateway.tenants.RotateApiKey(
            tenant_pb2.RotateApiKeyRequest(name=name, overlap=overlap), metadata=self._of_admin()
        )
        self.keys.append(made.secret)

    async def grant(self) -> None:
        asked = namespace_pb2.GrantAccessRequest(
            name=self._name(),
            principal=self.choose.choice(PRINCIPALS),
            access=self.choose.choice((1, 2)),  # type: ignore[arg-type]
        )
        await self.gateway.namespaces.GrantAccess(asked, metadata=self._of_admin())

    async def revoke(self) -> None:
        asked = namespace_pb2.RevokeAccessRequest(name=self._name(), principal=self.choose.choice(PRINCIPALS))
        await self.gateway.namespaces.RevokeAccess(asked, metadata=self._of_admin())

    async def subscribe(self) -> None:
        asked = namespace_pb2.SubscribeRequest(name=self._name())
        await self.gateway.namespaces.Subscribe(asked, metadata=bearer(self.choose.choice(self.keys)))

    async def unsubscribe(self) -> None:
        asked = namespace_pb2.UnsubscribeRequest(name=self._name())
        await self.gateway.namespaces.Unsubscribe(asked, metadata=bearer(self.choose.choice(self.keys)))

    async def create_namespace(self) -> None:
        name = self._name().removeprefix("namespaces/")
        await self.gateway.namespaces.CreateNamespace(
            namespace_pb2.CreateNamespaceRequest(namespace_id=name), metadata=bearer(self.choose.choice(self.keys))
        )

    async def delete_namespace(self) -> None:
        await self.gateway.namespaces.DeleteNamespace(
            namespace_pb2.DeleteNamespaceRequest(name=self._name(), force=True), metadata=self._of_admin()
        )

    async def show_or_hide(self) -> None:
        changed = namespace_pb2.Namespace(name=self._name(), visibility=self.choose.choice((1, 2)))  # type: ignore[arg-type]
        await self.gateway.namespaces.UpdateNamespace(
            namespace_pb2.UpdateNamespaceRequest(namespace=changed, update_mask=FieldMask(paths=["visibility"])),
            metadata=self._of_admin(),
        )

    async def disable_or_enable(self) -> None:
        self.disabled = not self.disabled
        changed = tenant_pb2.Tenant(name="tenants/acme", disabled=self.disabled)
        await self.gateway.tenants.UpdateTenant(
            tenant_pb2.UpdateTenantRequest(tenant=changed, update_mask=FieldMask(paths=["disabled"])),
            metadata=bearer(OPERATOR_KEY),
        )

    async def wait(self) -> None:
        self.clock.moment += timedelta(seconds=20)


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_change_counts_from_the_next_call_on(database: DatabaseUrls, seed: int) -> None:
    choose = random.Random(seed)
    clock = SetClock(datetime.now(UTC))
    CountingStore.lookups = calls = refused = 0
    async with AsyncExitStack() as stack:
        issuer = stack.enter_context(running_issuer())
        gateway = await stack.enter_async_context(running_gateway(database, clock=clock))
        opened = await stack.enter_async_context(Database(database.service, vectors=False))
        keys = CachedSigningKeys(
            await stack.enter_async_context(open_source(issuer.url, None)),
            refresh_seconds=300,
            retry_seconds=0,
            on_refresh=lambda _: None,
        )
        stack.push_async_callback(keys.close)
        names = ClaimNames("sub", "tenant", "roles", "namespaces", "grants")
        verifier = TokenVerifier(
            keys, clock, issuer=ISSUER, audience=AUDIENCE, algorithms=["RS256"], leeway_seconds=0,
            longest_seconds=86_400, names=names,
        )  # fmt: skip
        judge = Judge(opened, verifier, clock)
        changes = Changes(gateway, await gateway.new_tenant("acme"), clock, choose)
        for change in (changes.create_key, changes.create_namespace, changes.grant):
            for _ in range(8):
                await code_of(change())
        exp = int(clock.moment.timestamp()) + 86_000
        tokens = [
            issuer.token(exp=exp, tenant="acme", sub="ann"),
            issuer.token(exp=exp, tenant="acme", sub="bob", roles=["admin"], namespaces=["notes", "shared"]),
        ]
        for _ in range(STEPS):
            await changes.one()
            for _ in range(CALLS_A_STEP):
                credential = choose.choice([*changes.keys[-6:], *tokens, changes.admin])
                named = choose.sample(NAMES, choose.choice((1, 1, 2)))
                call = append(named[0]) if choose.random() < 0.4 else recall(*named)
                found = await judge.same(credential, call)
                calls, refused = calls + 1, refused + isinstance(found[0], type)
    assert calls / 5 < refused < calls * 4 / 5
    assert CountingStore.lookups < calls / 2, "little was remembered: nothing was tested"


async def test_what_was_read_beside_a_change_under_way_does_not_outlive_it(
    gateway: RunningGateway, database: DatabaseUrls
) -> None:
    """Whatever a call reads while a change is not committed yet is kept with a version that ends with the commit, in
    whatever order several changes commit."""
    admin = await gateway.new_tenant("acme")
    keys = [await gateway.new_key(admin, "ann"), await gateway.new_key(admin, "bob")]
    ids = [key.split("_")[1] for key in keys]
    async with (
        Database(database.service, vectors=False) as opened,
        await psycopg.AsyncConnection.connect(database.owner) as first,
        await psycopg.AsyncConnection.connect(database.owner) as second,
    ):
        judge = Judge(opened)
        for change, key_id in ((first, ids[0]), (second, ids[1])):
            await change.execute("UPDATE api_key SET revoked_at = now() WHERE key_id = %s", [key_id])
        for committed, expected in ((None, [True, True]), (second, [True, False]), (first, [False, False])):
            if committed is not None:
                await committed.commit()
            for _ in range(2):
                judged = [await judge.same(key, append(name)) for key, name in zip(keys, PRINCIPALS, strict=True)]
                assert [isinstance(found[0], UUID) for found in judged] == expected


async def test_the_gateway_serves_what_it_knows_and_refuses_what_was_revoked(
    database: DatabaseUrls, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the whole gateway: an answer from the cache takes one round trip to the database, and is not given to
    whoever lost access a moment ago."""
    trips: list[int] = []
    at_once = Database._at_once

    async def counted(self: Database, tenant_id: UUID | None, readings: Sequence[Any], *more: Any, **rest: Any) -> Any:
        trips.append(len(readings))
        return await at_once(self, tenant_id, readings, *more, **rest)

    monkeypatch.setattr(Database, "_at_once", counted)
    async with running_gateway(database, redis_url=redis_url) as gateway:
        admin = await gateway.new_tenant("acme")
        key = await gateway.new_key(admin, "ann", "READ")
        default = "namespaces/default"
        await gateway.namespaces.GrantAccess(
            namespace_pb2.GrantAccessRequest(name=default, principal="ann", access=namespace_pb2.ACCESS_READ),
            metadata=bearer(admin),
        )

        def ask() -> Any:
            return gateway.memories.Recall(recall("default")[1], metadata=bearer(key))

        for hit in (False, True, True):
            trips.clear()
            assert (await ask()).cache.hit is hit
        assert trips == [1]
        await gateway.namespaces.RevokeAccess(
            namespace_pb2.RevokeAccessRequest(name=default, principal="ann"), metadata=bearer(admin)
        )
        assert await code_of(ask()) is grpc.StatusCode.PERMISSION_DENIED
        await gateway.tenants.RevokeApiKey(
            tenant_pb2.RevokeApiKeyRequest(name=f"apiKeys/{key.split('_')[1]}"), metadata=bearer(admin)
        )
        assert await code_of(ask()) is grpc.StatusCode.UNAUTHENTICATED


async def test_each_kind_of_change_gives_another_version_and_nothing_else_does(database: DatabaseUrls) -> None:
    tenant, namespace = uuid4(), uuid4()
    place = {"tenant": tenant, "namespace": namespace}
    of_tenant = [
        "INSERT INTO api_key (tenant_id, key_id, secret_hash, principal, role, created_at)"
        " VALUES (%(tenant)s, 'k', '', 'ann', 'read', now())",
        "UPDATE api_key SET expires_at = now() WHERE tenant_id = %(tenant)s",
        "INSERT INTO namespace (tenant_id, namespace_id, name, owner, created_at, updated_at)"
        " VALUES (%(tenant)s, %(namespace)s, 'n', 'ann', now(), now())",
        "UPDATE namespace SET visibility = 2 WHERE tenant_id = %(tenant)s",
        "INSERT INTO namespace_grant VALUES (%(tenant)s, %(namespace)s, 'bob', 'read', now())",
        "UPDATE namespace_grant SET access = 'write' WHERE tenant_id = %(tenant)s",
        "DELETE FROM namespace_grant WHERE tenant_id = %(tenant)s",
        "INSERT INTO namespace_subscription VALUES (%(tenant)s, %(namespace)s, 'bob', now())",
        "DELETE FROM namespace_subscription WHERE tenant_id = %(tenant)s",
        "DELETE FROM namespace WHERE tenant_id = %(tenant)s",
        "DELETE FROM api_key WHERE tenant_id = %(tenant)s",
        "UPDATE tenant SET disabled = true WHERE tenant_id = %(tenant)s",
        "DELETE FROM tenant WHERE tenant_id = %(tenant)s",
    ]
    async with (
        Database(database.service, vectors=False) as opened,
        await psycopg.AsyncConnection.connect(database.owner, autocommit=True) as owner,
    ):
        states = PostgresAccessStates(opened)
        assert (await states.now(tenant, [namespace])).version is None
        await owner.execute("INSERT INTO tenant (tenant_id, name, created_at) VALUES (%(tenant)s, 't', now())", place)
        seen = [(await states.now(tenant, [])).version]
        for change in of_tenant:
            async with owner.transaction(force_rollback=True):
                await owner.execute(change.encode(), place)
                await owner.execute("SET CONSTRAINTS ALL IMMEDIATE")
            assert (await states.now(tenant, [])).version == seen[-1], "what was rolled back changed nothing"
            # Part of a transaction that is rolled back, and the same once more in it.
            async with owner.transaction():
                async with owner.transaction(force_rollback=True):
                    await owner.execute(change.encode(), place)
                    await owner.execute("SET CONSTRAINTS ALL IMMEDIATE")
                await owner.execute(change.encode(), place)
            seen.append((await states.now(tenant, [])).version)
        assert None not in seen
        assert len(set(seen)) == len(seen)
        other = await states.now(uuid4(), [namespace])
        assert (other.version, other.epochs) == (None, {})
