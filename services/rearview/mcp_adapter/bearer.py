"""Who may speak HTTP to the adapter: who holds a key that the gateway accepts. All others are told how to get one."""

import hashlib

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from rearview.domain.errors import (
    CredentialExpired,
    CredentialInvalid,
    CredentialMissing,
    InvalidFields,
    PermissionDenied,
    RearviewError,
    Unauthenticated,
)
from rearview.domain.expiring_map import ExpiringMap
from rearview.mcp_adapter.agents import Agents, bearer_of
from rearview.mcp_adapter.failures import REFRESH, error_json

MAX_REMEMBERED_TOKENS = 10_000
RETRY_AFTER_SECONDS = 1


class TokenCheck:
    """Asks the gateway whether a token is good, and does not ask again for a moment.

    Every call that follows carries the token itself and is proven by the gateway once more, so what is remembered
    here opens nothing; it only decides who is told 401 at once.
    """

    def __init__(self, agents: Agents, *, remember_seconds: float) -> None:
        self._agents = agents
        self._remember_seconds = remember_seconds
        self._good: ExpiringMap[bool] = ExpiringMap(MAX_REMEMBERED_TOKENS)

    async def check(self, token: str) -> bytes:
        """Return the digest by which the token is known here.

        Raises:
            RearviewError: what the gateway said of it: Unauthenticated, PermissionDenied, Unavailable, ...
        """
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        if not self._good.get(digest):
            await self._ask(token)
            self._good.put(digest, True, self._remember_seconds)
        return digest

    async def _ask(self, token: str) -> None:
        try:
            client = self._agents.client_of_key(token)
        except InvalidFields as error:
            raise CredentialInvalid("the token cannot be a key of Rearview") from error
        async for _ in client.list_namespaces(page_size=1):
            return


class BearerGate:
    """ASGI middleware: origin, then token, then the endpoint as that principal."""

    def __init__(
        self, app: ASGIApp, check: TokenCheck, security: TransportSecuritySettings, *, metadata_url: str
    ) -> None:
        self._app = app
        self._check = check
        self._security = TransportSecurityMiddleware(security)
        self._metadata_url = metadata_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or say why not: 403 and 421 for foreign origins and hosts, 401, 403, 503."""
        request = Request(scope)
        refused = await self._security.validate_request(request)
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            token = bearer_of(request)
            digest = await self._check.check(token)
        except RearviewError as error:
            await self._refusal(error)(scope, receive, send)
            return
        # Sessions are bound to this id by the SDK: with another token a session is not found.
        access = AccessToken(token=token, client_id=digest.hex(), scopes=[])
        await self._app({**scope, "user": AuthenticatedUser(access)}, receive, send)

    def _refusal(self, error: RearviewError) -> Response:
        if isinstance(error, Unauthenticated):
            return self._unauthenticated(error)
        body = {"error": "temporarily_unavailable", "error_description": error.message, "rearview": error_json(error)}
        if isinstance(error, PermissionDenied):
            return JSONResponse({**body, "error": "access_denied"}, status_code=403)
        return JSONResponse(body, status_code=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})

    def _unauthenticated(self, error: Unauthenticated) -> Response:
        # RFC 6750: a request without any token is told the scheme alone, one with a bad token what is wrong with it.
        parts = [f'resource_metadata="{self._metadata_url}"']
        if not isinstance(error, CredentialMissing):
            what = "the token has expired" if isinstance(error, CredentialExpired) else "the token is not valid"
            parts = ['error="invalid_token"', f'error_description="{what}"', *parts]
        body = {
            "error": "invalid_token",
            "error_description": f"{error.message}. {REFRESH}",
            "rearview": error_json(error),
        }
        return JSONResponse(body, status_code=401, headers={"WWW-Authenticate": f"Bearer {', '.join(parts)}"})
