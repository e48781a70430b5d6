"""Calls to an internal service in somebody's name, each with the identity that its method needs."""

from typing import Any

from rearview.domain.principal import Caller
from rearview.rpc.identity import IDENTITY_KEY, sign_identity
from rearview.rpc.internal_keys import parse_internal_keys
from tests.support.recording_backend import SERVICES


def signed(
    caller: Caller, key: str, service: str, method: str, *, ttl_seconds: int = 30
) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a call to one method (`Recall`) of one service (`retriever`)."""
    path = f"/{SERVICES[service].full_name}/{method}"
    identity = sign_identity(caller, parse_internal_keys(key), service, path, ttl_seconds=ttl_seconds)
    return ((IDENTITY_KEY, identity),)


class SignedStub:
    """A stub whose calls are made in a caller's name."""

    def __init__(self, stub: Any, service: str, caller: Caller, key: str) -> None:
        self._stub, self._service, self._caller, self._key = stub, service, caller, key

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._stub, method)
        return lambda request, **options: call(
            request, metadata=signed(self._caller, self._key, self._service, method), **options
        )
