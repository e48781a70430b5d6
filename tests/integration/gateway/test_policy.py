"""A tenant's policy through the public API."""

import base64
from datetime import timedelta
from typing import Any

import grpc
import psycopg
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from rearview.domain import errors
from rearview.rpc.convert.times import duration_to_proto
from rearview.v1 import lifecycle_pb2, namespace_pb2, tenant_pb2
from tests.support.grpc_errors import failure_of
from tests.support.running_gateway import RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls


def update(*paths: str, etag: str = "", **redaction: object) -> tenant_pb2.UpdatePolicyRequest:
    policy = tenant_pb2.TenantPolicy(redaction=tenant_pb2.RedactionPolicy(**redaction), etag=etag)  # type: ignore[arg-type]
    return tenant_pb2.UpdatePolicyRequest(policy=policy, update_mask=FieldMask(paths=paths))


async def test_a_policy_is_read_changed_and_guarded_by_its_etag(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    before = await gateway.tenants.GetPolicy(tenant_pb2.GetPolicyRequest(), metadata=admin)
    assert before.version == 0
    assert "PHONE" in before.redaction.categories
    assert "PERSON" not in before.redaction.categories
    request = update("redaction.categories", categories=["EMAIL", "PERSON", "EMAIL"], etag=before.etag)
    after = await gateway.tenants.UpdatePolicy(request, metadata=admin)
    assert (list(after.redaction.categories), after.redaction.vault) == (["EMAIL", "PERSON"], False)
    assert after.version == 1
    code, error = await failure_of(gateway.tenants.UpdatePolicy(request, metadata=admin))
    assert (code, type(error)) == (grpc.StatusCode.ABORTED, errors.EtagMismatch)
    other = bearer(await gateway.new_tenant("other"))
    assert (await gateway.tenants.GetPolicy(tenant_pb2.GetPolicyRequest(), metadata=other)).version == 0
    default = await gateway.tenants.UpdatePolicy(update("redaction"), metadata=admin)
    assert list(default.redaction.categories) == list(before.redaction.categories)
    # Each of these changes takes out more than the policy before it, and says what rewrites what is stored.
    assert after.rescan.startswith("operations/")
    assert default.rescan not in ("", after.rescan)
    laxer = await gateway.tenants.UpdatePolicy(update("redaction.categories", categories=["EMAIL"]), metadata=admin)
    assert (laxer.rescan, before.rescan) == ("", "")


async def test_unknown_categories_are_refused_with_those_that_are_known(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    request = update("redaction.categories", categories=["PHONE", "TELEPHONE"])
    code, error = await failure_of(gateway.tenants.UpdatePolicy(request, metadata=admin))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, errors.InvalidFields)
    assert [violation.field for violation in error.violations] == ["policy.redaction.categories[1]"]
    assert "ORGANISATION" in error.violations[0].description


@pytest.mark.parametrize("path", ["profiles", "default_profile"])
async def test_other_parts_are_not_offered(gateway: RunningGateway, path: str) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    code, error = await failure_of(gateway.tenants.UpdatePolicy(update("redaction", path), metadata=admin))
    assert (code, type(error)) == (grpc.StatusCode.UNIMPLEMENTED, errors.FeatureNotOffered)


async def test_a_vault_needs_a_key_and_an_admin(gateway: RunningGateway, database: DatabaseUrls) -> None:
    secret = await gateway.new_tenant("acme")
    code, error = await failure_of(
        gateway.tenants.UpdatePolicy(update("redaction.vault", vault=True), metadata=bearer(secret))
    )
    assert (code, type(error)) == (grpc.StatusCode.FAILED_PRECONDITION, errors.PreconditionFailed)
    assert "REARVIEW_VAULT_KEY" in str(error)
    writer = bearer(await gateway.new_key(secret, "helper"))
    code, _ = await failure_of(gateway.tenants.UpdatePolicy(update("redaction.vault"), metadata=writer))
    assert code == grpc.StatusCode.PERMISSION_DENIED
    key = "k1:" + base64.b64encode(b"k" * 32).decode()
    async with running_gateway(database, vault_key=key) as with_key:
        on = await with_key.tenants.UpdatePolicy(update("redaction.vault", vault=True), metadata=bearer(secret))
        assert on.redaction.vault


def lifecycle_update(**fields: Any) -> lifecycle_pb2.LifecyclePolicy:
    ages = {name: duration_to_proto(value) for name, value in fields.items() if isinstance(value, timedelta)}
    return lifecycle_pb2.LifecyclePolicy(**{**fields, **ages})


async def test_a_namespace_overrides_what_its_tenant_set(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    read = namespace_pb2.GetNamespacePolicyRequest(name="namespaces/default")
    before = await gateway.namespaces.GetNamespacePolicy(read, metadata=admin)
    assert (before.warm_after.seconds, before.cold_after.seconds) == (30 * 86_400, 90 * 86_400)
    assert (before.max_hot_memories, before.version) == (100_000, 0)
    tenant = tenant_pb2.UpdatePolicyRequest(
        policy=tenant_pb2.TenantPolicy(lifecycle=lifecycle_update(warm_after=timedelta(days=7), max_hot_memories=50)),
        update_mask=FieldMask(paths=["lifecycle.warm_after", "lifecycle.max_hot_memories"]),
    )
    answer = await gateway.tenants.UpdatePolicy(tenant, metadata=admin)
    assert (answer.lifecycle.warm_after.seconds, answer.version) == (7 * 86_400, 1)
    change = namespace_pb2.UpdateNamespacePolicyRequest(
        name="namespaces/default",
        policy=lifecycle_update(cold_after=timedelta(days=8), etag=before.etag),
        update_mask=FieldMask(paths=["cold_after"]),
    )
    after = await gateway.namespaces.UpdateNamespacePolicy(change, metadata=admin)
    assert (after.warm_after.seconds, after.cold_after.seconds) == (7 * 86_400, 8 * 86_400)
    assert (after.max_hot_memories, after.version) == (50, 1)
    code, error = await failure_of(gateway.namespaces.UpdateNamespacePolicy(change, metadata=admin))
    assert (code, type(error)) == (grpc.StatusCode.ABORTED, errors.EtagMismatch)


async def test_a_namespaces_own_values_are_versioned_and_audited_in_one_transaction(
    gateway: RunningGateway, database: DatabaseUrls
) -> None:
    admin = bearer(await gateway.new_tenant("acme"))

    async def change(**values: timedelta) -> lifecycle_pb2.LifecyclePolicy:
        request = namespace_pb2.UpdateNamespacePolicyRequest(
            name="namespaces/default", policy=lifecycle_update(**values), update_mask=FieldMask(paths=list(values))
        )
        return await gateway.namespaces.UpdateNamespacePolicy(request, metadata=admin)

    def audited() -> list[str]:
        with psycopg.connect(database.superuser) as connection:
            rows = connection.execute(
                "SELECT a.detail FROM audit_record a WHERE a.action = 'policy.update'"
                " AND a.resource_names = ARRAY['namespaces/default/policy'] ORDER BY a.recorded_at, a.record_id"
            )
            return [row[0] for row in rows]

    versions = [(await change(cold_after=timedelta(days=days))).version for days in (40, 50)]
    assert versions == [1, 2]
    assert [detail.partition(" ")[0] for detail in audited()] == ["version=1", "version=2"]
    assert all("cold_after" in detail for detail in audited())
    with psycopg.connect(database.superuser) as connection:
        (together,) = connection.execute(
            "SELECT (SELECT xmin FROM namespace_policy)::text = (SELECT xmin FROM audit_record"
            " WHERE action = 'policy.update' ORDER BY recorded_at DESC, record_id DESC LIMIT 1)::text"
        ).fetchone() or (None,)
        assert together, "the last change and its record were written by one transaction"

    await failure_of(change(cold_after=timedelta(days=1)))  # before warm
    with psycopg.connect(database.superuser) as connection:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no audit'; END $$;"
            "CREATE TRIGGER refuse BEFORE INSERT ON audit_record FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    await failure_of(change(cold_after=timedelta(days=60)))
    read = namespace_pb2.GetNamespacePolicyRequest(name="namespaces/default")
    after = await gateway.namespaces.GetNamespacePolicy(read, metadata=admin)
    assert (after.cold_after.seconds, after.version) == (50 * 86_400, 2)
    assert len(audited()) == 2


async def test_retention_is_set_by_tenants_and_overridden_by_namespaces(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    read = namespace_pb2.GetNamespacePolicyRequest(name="namespaces/default")
    before = await gateway.namespaces.GetNamespacePolicy(read, metadata=admin)
    assert (before.event_retention.seconds, before.trace_retention.seconds) == (365 * 86_400, 7 * 86_400)
    assert not before.expire_after
    days = {"episode": duration_to_proto(timedelta(days=90)), "tool_result": duration_to_proto(timedelta(days=30))}
    await gateway.tenants.UpdatePolicy(
        tenant_pb2.UpdatePolicyRequest(
            policy=tenant_pb2.TenantPolicy(
                lifecycle=lifecycle_update(expire_after=days, event_retention=timedelta(days=60))
            ),
            update_mask=FieldMask(paths=["lifecycle.expire_after", "lifecycle.event_retention"]),
        ),
        metadata=admin,
    )
    change = namespace_pb2.UpdateNamespacePolicyRequest(
        name="namespaces/default",
        policy=lifecycle_update(expire_after={"fact": days["episode"]}, trace_retention=timedelta(hours=1)),
        update_mask=FieldMask(paths=["expire_after", "trace_retention"]),
    )
    after = await gateway.namespaces.UpdateNamespacePolicy(change, metadata=admin)
    assert {name: age.seconds for name, age in after.expire_after.items()} == {"fact": 90 * 86_400}
    assert (after.event_retention.seconds, after.trace_retention.seconds) == (60 * 86_400, 3_600)
    unset = namespace_pb2.UpdateNamespacePolicyRequest(
        name="namespaces/default", update_mask=FieldMask(paths=["expire_after"])
    )
    after = await gateway.namespaces.UpdateNamespacePolicy(unset, metadata=admin)
    assert after.expire_after.keys() == days.keys(), "an unset field takes the tenant's value"
    assert after.version == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("warm_after", timedelta(0)),
        ("warm_after", timedelta(days=91)),
        ("cold_after", timedelta(days=29)),
        ("max_hot_memories", -1),
        ("hot_priority_floor", 1.5),
        ("hot_priority_floor", float("nan")),
        ("expire_after", {"episodes": duration_to_proto(timedelta(days=90))}),
        ("expire_after", {"episode": duration_to_proto(timedelta(0))}),
        ("event_retention", timedelta(hours=23)),
        ("trace_retention", timedelta(days=40_000)),
    ],
)
async def test_bad_ages_and_bounds_are_named_and_change_nothing(
    gateway: RunningGateway, field: str, value: object
) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    change = namespace_pb2.UpdateNamespacePolicyRequest(
        name="namespaces/default", policy=lifecycle_update(**{field: value}), update_mask=FieldMask(paths=[field])
    )
    code, error = await failure_of(gateway.namespaces.UpdateNamespacePolicy(change, metadata=admin))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, errors.InvalidFields)
    assert error.violations[0].field.startswith("policy.")
    read = namespace_pb2.GetNamespacePolicyRequest(name="namespaces/default")
    assert (await gateway.namespaces.GetNamespacePolicy(read, metadata=admin)).version == 0
