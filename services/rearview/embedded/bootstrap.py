"""The first tenant and its keys, made through the gateway's public API with the operator's key."""

from __future__ import annotations

import grpc

from rearview.embedded.errors import StackError
from rearview.embedded.secrets import SecretsFile, TenantKeys
from rearview.v1 import namespace_pb2, namespace_pb2_grpc, tenant_pb2, tenant_pb2_grpc

CALL_TIMEOUT_SECONDS = 30.0
AGENT = "agent"
FIRST_NAMESPACE = "namespaces/default"
AUTHORIZATION = "authorization"


def ensure_tenant(gateway_address: str, operator_key: str, tenant_id: str, file: SecretsFile) -> TenantKeys:
    """Return the first tenant's keys; create the tenant unless they are kept in `secrets.json` already.

    The agent's key writes in the agent's own namespace and in `default`.

    Raises:
        StackError: the gateway refused, or the tenant is there but its keys are not.
    """
    kept = file.tenant_keys()
    if kept is not None:
        return kept
    with grpc.insecure_channel(gateway_address) as channel:
        stub = tenant_pb2_grpc.TenantServiceStub(channel)
        try:
            created = stub.CreateTenant(
                tenant_pb2.CreateTenantRequest(
                    tenant_id=tenant_id, tenant=tenant_pb2.Tenant(display_name="First tenant of this machine")
                ),
                metadata=_bearer(operator_key),
                timeout=CALL_TIMEOUT_SECONDS,
            )
            agent = stub.CreateApiKey(
                tenant_pb2.CreateApiKeyRequest(
                    api_key=tenant_pb2.ApiKey(principal=AGENT, role=tenant_pb2.PRINCIPAL_ROLE_WRITE)
                ),
                metadata=_bearer(created.secret),
                timeout=CALL_TIMEOUT_SECONDS,
            )
            namespace_pb2_grpc.NamespaceServiceStub(channel).GrantAccess(
                namespace_pb2.GrantAccessRequest(
                    name=FIRST_NAMESPACE, principal=AGENT, access=namespace_pb2.ACCESS_WRITE
                ),
                metadata=_bearer(created.secret),
                timeout=CALL_TIMEOUT_SECONDS,
            )
        except grpc.RpcError as error:
            raise StackError(_explain(error, tenant_id)) from error
    keys = TenantKeys(tenant_id=tenant_id, admin_key=created.secret, api_key=agent.secret)
    file.keep_tenant_keys(keys)
    return keys


def _bearer(secret: str) -> tuple[tuple[str, str], ...]:
    return ((AUTHORIZATION, f"Bearer {secret}"),)


def _explain(error: grpc.RpcError, tenant_id: str) -> str:
    code = error.code() if isinstance(error, grpc.Call) else None
    details = error.details() if isinstance(error, grpc.Call) else str(error)
    if code is grpc.StatusCode.ALREADY_EXISTS:
        return (
            f"the tenant {tenant_id!r} exists, but its keys are not in secrets.json (a key is shown only once); "
            "restore secrets.json from a backup, or start with another first tenant: rearview up --tenant NAME"
        )
    return f"the gateway refused to make the first tenant: {code.name if code else 'error'}: {details}"
