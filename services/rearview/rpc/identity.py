"""The identity that the gateway establishes and signs for the services behind it: a short-lived JWT, HS256.

The algorithm is pinned and the signature is compared in constant time (PyJWT does), so nothing in a token can choose
how it is checked.
"""

import time
from collections.abc import Mapping
from uuid import UUID

import jwt

from rearview.domain.errors import CredentialInvalid
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.rpc.call_context import outgoing_metadata

IDENTITY_KEY = "rearview-identity"
MIN_KEY_BYTES = 32

_ALGORITHM = "HS256"
_AUDIENCE = "rearview-internal"
_CLOCK_SKEW_SECONDS = 5
_REQUIRED = ["aud", "exp", "iat", "sub"]


def sign_identity(caller: Caller, key: str | bytes, ttl_seconds: int = 30) -> str:
    """Return a token that says, for `ttl_seconds`, who is calling and which namespaces they may reach.

    Raises:
        ValueError: the key is shorter than 32 bytes (RFC 7518, section 3.2).
    """
    now = int(time.time())
    claims = {
        "aud": _AUDIENCE,
        "iat": now,
        "exp": now + ttl_seconds,
        "sub": caller.principal,
        "tenant": str(caller.tenant_id) if caller.tenant_id else "",
        "role": caller.role.value,
        "namespaces": {
            name: [str(reached.namespace_id), reached.access.value] for name, reached in caller.namespaces.items()
        },
        "request": caller.request_id,
        "trace": caller.trace_id,
    }
    return jwt.encode(claims, _checked(key), algorithm=_ALGORITHM)


def verify_identity(token: str | bytes, key: str | bytes) -> Caller:
    """Return the caller that a token speaks for.

    Raises:
        CredentialInvalid: it was not signed with this key, is not meant for internal calls, or has expired.
        ValueError: the key is shorter than 32 bytes.
    """
    try:
        claims = jwt.decode(
            token,
            _checked(key),
            algorithms=[_ALGORITHM],
            audience=_AUDIENCE,
            leeway=_CLOCK_SKEW_SECONDS,
            options={"require": _REQUIRED},
        )
        return _caller(claims)
    except jwt.ExpiredSignatureError as error:
        raise CredentialInvalid("the signed identity has expired") from error
    except (jwt.InvalidTokenError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CredentialInvalid("the signed identity is not valid") from error


def identity_metadata(caller: Caller, key: str | bytes) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a call to an internal service: signed identity, request id, trace."""
    return ((IDENTITY_KEY, sign_identity(caller, key)), *outgoing_metadata())


def _caller(claims: Mapping[str, object]) -> Caller:
    tenant, namespaces = claims["tenant"], claims["namespaces"]
    if not isinstance(tenant, str) or not isinstance(namespaces, dict):
        raise TypeError("claims have other types")
    return Caller(
        tenant_id=UUID(tenant) if tenant else None,
        principal=str(claims["sub"]),
        role=Role(str(claims["role"])),
        namespaces={
            str(name): NamespaceAccess(UUID(namespace_id), Access(access))
            for name, (namespace_id, access) in namespaces.items()
        },
        request_id=str(claims["request"]),
        trace_id=str(claims["trace"]),
    )


def _checked(key: str | bytes) -> bytes:
    octets = key.encode() if isinstance(key, str) else key
    if len(octets) < MIN_KEY_BYTES:
        raise ValueError(f"the key that signs identities must have at least {MIN_KEY_BYTES} bytes")
    return octets
