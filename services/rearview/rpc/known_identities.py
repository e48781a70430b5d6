"""Signed identities that serve more than once within their short life, since signing and checking cost as much as much
else of a call.

The gateway signs one for a caller, what it reaches, and a method, and sends it with every such call for a while. A
service checks each token once: the very same bytes are good until they expire. Which request it is stands beside the
token, in the call's own metadata.
"""

import time
from dataclasses import replace

from rearview.domain.expiring_map import ExpiringMap
from rearview.domain.principal import Caller
from rearview.rpc.call_context import current_request_id
from rearview.rpc.identity import TTL_SECONDS, sign_identity, verify_identity
from rearview.rpc.internal_keys import InternalKeys
from rearview.telemetry.trace_context import current_trace

MOST = 10_000
USED_FOR_SECONDS = TTL_SECONDS / 3
"""How long a token is sent; whoever gets it may then still be asked for some time."""


class SignedIdentities:
    """The identities of a gateway for one service."""

    def __init__(self, keys: InternalKeys, service: str, *, most: int = MOST) -> None:
        self._keys = keys
        self._service = service
        self._signed: ExpiringMap[str] = ExpiringMap(most)

    def of(self, caller: Caller, method: str) -> str:
        """Return a token for `method` that says who is calling and which namespaces they may reach."""
        who = (caller.tenant_id, caller.principal, caller.role, frozenset(caller.namespaces.items()), method)
        token = self._signed.get(who)
        if token is None:
            token = sign_identity(replace(caller, request_id="", trace_id=""), self._keys, self._service, method)
            self._signed.put(who, token, USED_FOR_SECONDS)
        return token


class VerifiedIdentities:
    """The identities that a service has been shown."""

    def __init__(self, keys: InternalKeys, service: str, *, most: int = MOST) -> None:
        self._keys = keys
        self._service = service
        self._verified: ExpiringMap[Caller] = ExpiringMap(most)

    def caller(self, token: str, method: str) -> Caller:
        """Return the caller that a token speaks for, in the request that is being served.

        Raises:
            CredentialInvalid: see `verify_identity`.
        """
        caller = self._verified.get((token, method))
        if caller is None:
            caller, expires_at = verify_identity(token, self._keys, self._service, method)
            self._verified.put((token, method), caller, expires_at - time.time())
        if caller.request_id:
            return caller
        trace = current_trace()
        return replace(caller, request_id=current_request_id(), trace_id=trace.trace_id if trace else "")
