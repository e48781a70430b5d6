"""Whose client a request uses: the agent's own, never another's and never the adapter's."""

from starlette.requests import Request

from rearview.client import AsyncClient
from rearview.domain.errors import CredentialMissing

NAMESPACE_HEADER = "rearview-namespace"
_SCHEME = "bearer "


class Agents:
    """Gives each request the client of its caller. All of them share one channel to the gateway, and nothing else."""

    def __init__(self, gateway: AsyncClient, *, callers_bring_keys: bool) -> None:
        """`gateway` proves the one agent of a stdio connection; when callers bring keys, it should prove nobody."""
        self._gateway = gateway
        self._callers_bring_keys = callers_bring_keys

    def client_of(self, request: Request | None) -> AsyncClient:
        """Return the client of who sent this request.

        Raises:
            CredentialMissing: callers bring keys, and this one brought none.
            InvalidFields: what it brought cannot be a key.
        """
        if not self._callers_bring_keys:
            return self._gateway
        if request is None:
            raise CredentialMissing("the request carries no credential")
        return self.client_of_key(bearer_of(request), namespace=request.headers.get(NAMESPACE_HEADER) or None)

    def client_of_key(self, api_key: str, *, namespace: str | None = None) -> AsyncClient:
        """Return the client of a key. Raises: InvalidFields: it cannot be one."""
        return self._gateway.with_options(api_key=api_key, namespace=namespace)


def bearer_of(request: Request) -> str:
    """Return the bearer token of a request. Raises: CredentialMissing."""
    header = request.headers.get("authorization", "")
    token = header[len(_SCHEME) :].strip() if header.lower().startswith(_SCHEME) else ""
    if not token:
        raise CredentialMissing("no credential came with the call; send `Authorization: Bearer <key>`")
    return token
