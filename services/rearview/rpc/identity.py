"""The identity that the gateway establishes and signs for the services behind it: a short-lived JWT, HS256.

It is made for one method of one service, so that whoever gets hold of one can neither take it elsewhere nor do
anything else with it. The algorithm is pinned and the signature is compared in constant time (PyJWT does), so nothing
in a token can choose how it is checked.
"""

import time
from collections.abc import Mapping
from uuid import UUID

import jwt

from rearview.domain.errors import CredentialInvalid
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.rpc.call_context import outgoing_metadata
from rearview.rpc.internal_keys import InternalKeys

IDENTITY_KEY = "rearview-identity"
TTL_SECONDS = 30

_ALGORITHM = "HS256"
_CLOCK_SKEW_SECONDS = 5
_REQUIRED = ["aud", "exp", "iat", "sub", "method"]


def sign_identity(
    caller: Caller, keys: InternalKeys, service: str, method: str, *, ttl_seconds: int = TTL_SECONDS
) -> str:
    """Return a token that says, for `ttl_seconds`, who is calling and which namespaces they may reach.

    It is good for `method` (`/package.Service/Method`) of `service` (`writer`) alone.
    """
    now = int(time.time())
    claims = {
        "aud": _audience(service),
        "iat": now,
        "exp": now + ttl_seconds,
        "method": method,
        "sub": caller.principal,
        "tenant": str(caller.tenant_id) if caller.tenant_id else "",
        "role": caller.role.value,
        "namespaces": {
            name: [str(reached.namespace_id), reached.access.value] for name, reached in caller.namespaces.items()
        },
        "request": caller.request_id,
        "trace": caller.trace_id,
    }
    return jwt.encode(claims, keys.signing, algorithm=_ALGORITHM)


def verify_identity(token: str | bytes, keys: InternalKeys, service: str, method: str) -> tuple[Caller, float]:
    """Return the caller that a token speaks for, and until when, in seconds of the clock.

    Raises:
        CredentialInvalid: it was not signed with one of these keys, is not meant for this method of this service, or
            has expired.
    """
    for key in keys.accepted[:-1]:
        try:
            return _verified(token, key, service, method)
        except jwt.InvalidSignatureError:
            continue
    try:
        return _verified(token, keys.accepted[-1], service, method)
    except jwt.InvalidSignatureError as error:
        raise _invalid() from error


def identity_metadata(token: str) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a call to an internal service: signed identity, request id, trace."""
    return ((IDENTITY_KEY, token), *outgoing_metadata())


def _verified(token: str | bytes, key: bytes, service: str, method: str) -> tuple[Caller, float]:
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[_ALGORITHM],
            audience=_audience(service),
            leeway=_CLOCK_SKEW_SECONDS,
            options={"require": _REQUIRED},
        )
        if claims["method"] != method:
            raise _invalid()
        return _caller(claims), float(claims["exp"]) + _CLOCK_SKEW_SECONDS
    except jwt.InvalidSignatureError:
        raise  # another key may fit
    except jwt.ExpiredSignatureError as error:
        raise CredentialInvalid("the signed identity has expired") from error
    except (jwt.InvalidTokenError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _invalid() from error


def _audience(service: str) -> str:
    return f"rearview-internal/{service}"


def _invalid() -> CredentialInvalid:
    return CredentialInvalid("the signed identity is not valid for this call")


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
