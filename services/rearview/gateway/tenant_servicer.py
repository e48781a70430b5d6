"""TenantService: the gateway's own. Tenants are the operator's, keys belong to the admins of the caller's tenant."""

from collections.abc import AsyncIterator
from typing import Any

from google.protobuf import empty_pb2

from rearview.domain.errors import CredentialInvalid, FeatureNotOffered
from rearview.gateway.authorize import Authorizer, current_credential
from rearview.gateway.display_names import DisplayNames
from rearview.gateway.keys.create_api_key import CreateApiKey
from rearview.gateway.keys.list_api_keys import ListApiKeys
from rearview.gateway.keys.revoke_api_key import RevokeApiKey
from rearview.gateway.keys.rotate_api_key import RotateApiKey
from rearview.gateway.tenants.create_tenant import CreateTenant
from rearview.gateway.tenants.delete_tenant import DeleteTenant
from rearview.gateway.tenants.read_tenants import ReadTenants
from rearview.gateway.tenants.update_policy import UpdatePolicy
from rearview.gateway.tenants.update_tenant import UpdateTenant
from rearview.ports.clock import Clock
from rearview.ports.policies import PolicyStore
from rearview.ports.tenancy_store import ApiKeyStore, TenantStore
from rearview.rpc.convert.policies import policy_to_proto, update_policy_from_proto
from rearview.rpc.convert.requests import next_page_token, page_from_proto
from rearview.rpc.convert.tenancy import (
    api_key_id_from_proto,
    api_key_to_proto,
    create_api_key_from_proto,
    create_tenant_from_proto,
    created_api_key_to_proto,
    created_tenant_to_proto,
    rotate_api_key_from_proto,
    tenant_name_from_proto,
    tenant_to_proto,
    update_tenant_from_proto,
)
from rearview.rpc.convert.violations import Violations
from rearview.v1 import tenant_pb2 as pb
from rearview.v1.tenant_pb2_grpc import TenantServiceServicer


class TenantServicer(TenantServiceServicer):
    """Converts, calls the use case, converts."""

    def __init__(
        self,
        authorizer: Authorizer,
        tenants: TenantStore,
        keys: ApiKeyStore,
        display_names: DisplayNames,
        policies: PolicyStore,
        clock: Clock,
        page_key: bytes,
        *,
        has_vault: bool,
    ) -> None:
        self._authorizer = authorizer
        self._page_key = page_key
        self._create_tenant = CreateTenant(tenants, display_names, clock)
        self._tenants = ReadTenants(tenants)
        self._delete_tenant = DeleteTenant(tenants, clock)
        self._update_tenant = UpdateTenant(tenants, display_names, clock)
        self._create_key = CreateApiKey(keys, clock)
        self._list_keys = ListApiKeys(keys)
        self._rotate_key = RotateApiKey(keys, clock)
        self._policies = policies
        self._update_policy = UpdatePolicy(policies, clock, has_vault=has_vault)
        self._revoke_key = RevokeApiKey(keys, clock)

    async def CreateTenant(self, request: pb.CreateTenantRequest, context: Any) -> pb.CreateTenantResponse:
        """Make a tenant, its first namespace and its first admin key."""
        new = create_tenant_from_proto(request)
        caller = await self._authorizer.caller_of(request)
        return created_tenant_to_proto(await self._create_tenant(caller, new))

    async def GetTenant(self, request: pb.GetTenantRequest, context: Any) -> pb.Tenant:
        """Read a tenant."""
        name = tenant_name_from_proto(request.name)
        await self._authorizer.caller_of(request)
        return tenant_to_proto(await self._tenants.one(name))

    async def ListTenants(self, request: pb.ListTenantsRequest, context: Any) -> pb.ListTenantsResponse:
        """List tenants by name."""
        found = Violations()
        page = page_from_proto(request, request.page_size, request.page_token, self._page_key, found)
        found.raise_if_any()
        await self._authorizer.caller_of(request)
        listed = await self._tenants.page(page)
        return pb.ListTenantsResponse(
            tenants=[tenant_to_proto(tenant) for tenant in listed.rows],
            next_page_token=next_page_token(request, listed.next_after, self._page_key),
        )

    async def UpdateTenant(self, request: pb.UpdateTenantRequest, context: Any) -> pb.Tenant:
        """Change the fields that the mask names."""
        name, changes = update_tenant_from_proto(request)
        caller = await self._authorizer.caller_of(request)
        return tenant_to_proto(await self._update_tenant(caller, name, changes))

    async def DeleteTenant(self, request: pb.DeleteTenantRequest, context: Any) -> empty_pb2.Empty:
        """Disable a tenant for good and have it erased."""
        name = tenant_name_from_proto(request.name)
        await self._delete_tenant(await self._authorizer.caller_of(request), name)
        return empty_pb2.Empty()

    async def CreateApiKey(self, request: pb.CreateApiKeyRequest, context: Any) -> pb.CreateApiKeyResponse:
        """Make a key for a principal."""
        new = create_api_key_from_proto(request)
        caller = await self._authorizer.caller_of(request)
        return created_api_key_to_proto(await self._create_key(caller, current_credential().namespaces, new))

    async def ListApiKeys(self, request: pb.ListApiKeysRequest, context: Any) -> pb.ListApiKeysResponse:
        """List keys, newest first."""
        found = Violations()
        page = page_from_proto(request, request.page_size, request.page_token, self._page_key, found)
        found.raise_if_any()
        listed = await self._list_keys(await self._authorizer.caller_of(request), page)
        return pb.ListApiKeysResponse(
            api_keys=[api_key_to_proto(key) for key in listed.rows],
            next_page_token=next_page_token(request, listed.next_after, self._page_key),
        )

    async def RotateApiKey(self, request: pb.RotateApiKeyRequest, context: Any) -> pb.CreateApiKeyResponse:
        """Make a successor of a key."""
        key_id, overlap = rotate_api_key_from_proto(request)
        caller = await self._authorizer.caller_of(request)
        made = await self._rotate_key(caller, current_credential().namespaces, key_id, overlap)
        return created_api_key_to_proto(made)

    async def RevokeApiKey(self, request: pb.RevokeApiKeyRequest, context: Any) -> pb.ApiKey:
        """End a key at once."""
        key_id = api_key_id_from_proto(request.name)
        caller = await self._authorizer.caller_of(request)
        return api_key_to_proto(await self._revoke_key(caller, current_credential().namespaces, key_id))

    async def GetPolicy(self, request: pb.GetPolicyRequest, context: Any) -> pb.TenantPolicy:
        """Read the policy of the caller's tenant."""
        caller = await self._authorizer.caller_of(request)
        if caller.tenant_id is None:
            raise CredentialInvalid("the credential belongs to no tenant")
        return policy_to_proto(await self._policies.get(caller.tenant_id))

    async def UpdatePolicy(self, request: pb.UpdatePolicyRequest, context: Any) -> pb.TenantPolicy:
        """Change the parts of the policy that the mask names."""
        changes = update_policy_from_proto(request)
        return policy_to_proto(await self._update_policy(await self._authorizer.caller_of(request), changes))

    async def ExportSubject(
        self, request: pb.ExportSubjectRequest, context: Any
    ) -> AsyncIterator[pb.ExportSubjectResponse]:
        """Not offered yet."""
        await self._authorizer.caller_of(request)
        raise FeatureNotOffered("exports about one subject are not offered yet", feature="subject_export")
        yield pb.ExportSubjectResponse()  # makes this a stream
