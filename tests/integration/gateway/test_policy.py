"""A tenant's policy through the public API."""

import base64

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from rearview.domain import errors
from rearview.v1 import tenant_pb2
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


async def test_unknown_categories_are_refused_with_those_that_are_known(gateway: RunningGateway) -> None:
    admin = bearer(await gateway.new_tenant("acme"))
    request = update("redaction.categories", categories=["PHONE", "TELEPHONE"])
    code, error = await failure_of(gateway.tenants.UpdatePolicy(request, metadata=admin))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, errors.InvalidFields)
    assert [violation.field for violation in error.violations] == ["policy.redaction.categories[1]"]
    assert "ORGANISATION" in error.violations[0].description


@pytest.mark.parametrize("path", ["lifecycle", "lifecycle.hot_to_warm", "profiles", "default_profile"])
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
