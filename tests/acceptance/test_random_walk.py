"""Four agents of two tenants do what comes to their minds, and nobody sees what is not theirs.

`REARVIEW_WALK_STEPS` sets how many steps there are (10,000 is the long run), `REARVIEW_WALK_SEED` which ones.
"""

import asyncio
import logging
import os
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from rearview.client import Client
from rearview.domain.ids import new_id
from rearview.embedded.endpoints import Endpoints
from rearview.rpc.channel import open_channel
from rearview.v1 import namespace_pb2, tenant_pb2
from rearview.v1.namespace_pb2_grpc import NamespaceServiceStub
from rearview.v1.tenant_pb2_grpc import TenantServiceStub
from tests.support.running_gateway import bearer
from tests.support.walk import AGENTS, MARK, OWNERS, TENANTS, Agent, Walk

STEPS = int(os.environ.get("REARVIEW_WALK_STEPS", "384"))
SEED = int(os.environ.get("REARVIEW_WALK_SEED", "20260301"))
LOOKS_A_ROUND = 40
AT_A_TIME = 8


@pytest.fixture(scope="module")
def tenants(operator: Client) -> dict[str, str]:
    """The key of the first admin of each tenant."""
    return {tenant: operator.create_tenant(f"walk-{tenant}-{new_id().hex[-8:]}").secret for tenant in TENANTS}


async def agents_of(tenants: dict[str, str], gateway: str) -> list[Agent]:
    """Make the agents and their namespaces; the second one's key is limited to two of three."""
    agents = []
    async with open_channel(gateway) as channel:
        for tenant, admin in tenants.items():
            for name in AGENTS:
                only = ("beta", "shared") if name == "beta" else ()
                key = tenant_pb2.ApiKey(
                    principal=name,
                    role=tenant_pb2.PRINCIPAL_ROLE_WRITE,
                    namespaces=[f"namespaces/{namespace}" for namespace in only],
                )
                made = await TenantServiceStub(channel).CreateApiKey(
                    tenant_pb2.CreateApiKeyRequest(api_key=key), metadata=bearer(admin), timeout=60
                )
                agents.append(Agent(tenant, name, made.secret, only))
            owner = next(one for one in agents if (one.tenant, one.name) == (tenant, OWNERS["shared"]))
            await NamespaceServiceStub(channel).CreateNamespace(
                namespace_pb2.CreateNamespaceRequest(namespace_id="shared"), metadata=bearer(owner.key), timeout=60
            )
    return agents


async def test_nobody_sees_what_is_not_theirs(endpoints: Endpoints, tenants: dict[str, str]) -> None:
    assert endpoints.gateway is not None
    agents = await agents_of(tenants, endpoints.gateway)
    async with open_channel(endpoints.gateway) as channel:
        walk = Walk(channel, agents, SEED)
        taken = 0
        while taken < STEPS:
            for _ in range(8):
                await walk.change()
            for _ in range(0, LOOKS_A_ROUND, AT_A_TIME):
                await asyncio.gather(*(walk.look() for _ in range(AT_A_TIME)))
            taken += 8 + LOOKS_A_ROUND
    assert walk.leaks == []
    # The walk went somewhere: much was seen, some of it of others who allowed it, and much was refused.
    for happened in ("OK", "PERMISSION_DENIED", "NOT_FOUND", "marks of others seen", "answers from the cache"):
        assert walk.counts[happened] > STEPS / 100, walk.counts
    assert walk.counts["marks seen"] > STEPS, walk.counts
    logging.getLogger(__name__).info("%d steps: %s", taken, dict(walk.counts))


def rows_of(url: str, tenant: UUID | None, table: str) -> Iterator[str]:
    """Yield all rows of a table as a service sees them without any filter of its own, as text."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, true)", (str(tenant or ""),))
        for (row,) in connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))):
            yield row


def test_without_the_application_s_filter_the_database_keeps_them_apart(
    endpoints: Endpoints, tenants: dict[str, str]
) -> None:
    with psycopg.connect(endpoints.postgres_superuser_url.rpartition("/")[0] + "/rearview") as connection:
        found = connection.execute("SELECT tenant_id, name FROM tenant WHERE name LIKE 'walk-%'")
        ids = {name[5]: tenant_id for tenant_id, name in found.fetchall()}
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT table_name FROM information_schema.columns JOIN information_schema.tables"
                " USING (table_schema, table_name)"
                " WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_type = 'BASE TABLE'"
            ).fetchall()
        ]
    assert set(ids) == set(TENANTS)
    seen = dict.fromkeys(TENANTS, 0)
    for table in tables:
        assert list(rows_of(endpoints.postgres_service_url, None, table)) == [], table
        for tenant, tenant_id in ids.items():
            for row in rows_of(endpoints.postgres_service_url, tenant_id, table):
                marks = {mark[1] for mark in MARK.finditer(row)}
                assert marks <= {tenant}, table
                assert str(ids["b" if tenant == "a" else "a"]) not in row, table
                seen[tenant] += len(marks)
    assert min(seen.values()) > 10, "the walk left nothing to find"
