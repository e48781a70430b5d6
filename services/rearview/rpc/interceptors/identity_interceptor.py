"""Internal services serve nobody whose identity the gateway has not signed for this very method."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from rearview.domain.errors import CredentialMissing, FeatureNotOffered
from rearview.domain.principal import Role, check_role
from rearview.rpc.call_context import set_caller
from rearview.rpc.identity import IDENTITY_KEY
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall
from rearview.rpc.internal_keys import InternalKeys
from rearview.rpc.internal_rules import INTERNAL_RULES
from rearview.rpc.known_identities import VerifiedIdentities


class IdentityInterceptor(CallInterceptor):
    """Verifies the metadata `rearview-identity`, checks the role by the table of rules and binds the caller; only
    health, reflection and channelz are open."""

    def __init__(self, service: str, keys: InternalKeys, rules: Mapping[str, Role] = INTERNAL_RULES) -> None:
        self._identities = VerifiedIdentities(keys, service)
        self._rules = rules

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call if it comes with a valid identity whose role suffices.

        Raises:
            CredentialMissing: it carries none.
            CredentialInvalid: it is forged, of another service or method, or expired.
            FeatureNotOffered: no rule says who may call the method.
            RoleInsufficient: its role does not allow the method.
        """
        if not call.is_of_platform:
            self._admit(call)
        yield

    def _admit(self, call: IncomingCall) -> None:
        token = call.text(IDENTITY_KEY)
        if not token:
            raise CredentialMissing("internal calls carry a signed identity; this one does not")
        caller = self._identities.caller(token, call.method)
        set_caller(caller)
        required = self._rules.get(call.method)
        if required is None:
            raise FeatureNotOffered("this method is not offered", feature=call.method)
        check_role(caller.role, required, call.method)
