"""Nobody gets past the door whose credential is not proven, whose role does not suffice, or who calls too often."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rearview.gateway.authenticate import OPERATOR
from rearview.gateway.authorize import Authorizer, current_credential
from rearview.gateway.busiest_tenants import BusiestTenants
from rearview.gateway.known_parties import KnownParties
from rearview.gateway.limits.rate_limits import RateLimits
from rearview.rpc.call_context import current_caller
from rearview.rpc.interceptors import CallInterceptor, IncomingCall


class AdmissionInterceptor(CallInterceptor):
    """Admits calls by the table of rules; only health, reflection and channelz are open."""

    def __init__(
        self, authorizer: Authorizer, tenants: BusiestTenants, rates: RateLimits, parties: KnownParties
    ) -> None:
        self._authorizer = authorizer
        self._tenants = tenants
        self._rates = rates
        self._parties = parties

    def party_of(self, call: IncomingCall) -> str:
        """Return whose turn a call takes whose credential is not proven yet."""
        return self._parties.party_of(call.context.invocation_metadata() or ())

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call if it may be made at all; which namespaces it reaches is decided with its request."""
        if not call.is_of_platform:
            # Not `call.metadata`, in which one of two credentials would have replaced the other.
            metadata = call.context.invocation_metadata() or ()
            await self._authorizer.admit(call.method, metadata, call.request)
            tenant_id = current_caller().tenant_id
            self._parties.learn(metadata, str(tenant_id or OPERATOR))
            if tenant_id is not None:
                self._tenants.note(tenant_id)
            await self._rates.take(current_credential())
        yield
