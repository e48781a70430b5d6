import base64
import json
import time
from itertools import pairwise
from uuid import UUID

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.errors import CredentialInvalid, NamespaceDenied
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.rpc.identity import sign_identity, verify_identity
from rearview.rpc.internal_keys import parse_internal_keys
from rearview.rpc.scopes import scope_of
from tests.unit.rpc.strategies import few, namespaces

KEY = "k" * 32
OLD, NEW = "o" * 32, "n" * 32
METHOD = "/rearview.internal.v1.WriterService/Remember"


def sign(
    caller: Caller, keys: str = KEY, *, service: str = "writer", method: str = METHOD, ttl_seconds: int = 30
) -> str:
    return sign_identity(caller, parse_internal_keys(keys), service, method, ttl_seconds=ttl_seconds)


def verify(token: str | bytes, keys: str = KEY, *, service: str = "writer", method: str = METHOD) -> Caller:
    return verify_identity(token, parse_internal_keys(keys), service, method)[0]


callers = st.builds(
    Caller,
    tenant_id=st.none() | st.uuids(),
    principal=st.from_regex(r"\A[a-z0-9][a-z0-9_.-]{0,20}\Z"),
    role=st.sampled_from(Role),
    namespaces=st.dictionaries(namespaces, st.builds(NamespaceAccess, st.uuids(), st.sampled_from(Access)), max_size=4),
    request_id=st.from_regex(r"\A[A-Za-z0-9._-]{1,40}\Z"),
    trace_id=st.from_regex(r"\A[0-9a-f]{32}\Z"),
)
CALLER = Caller(UUID(int=7), "agent", Role.WRITE, {"default": NamespaceAccess(UUID(int=9), Access.READ)}, "r", "t")


@few
@given(callers)
def test_a_signed_identity_comes_back_whole(caller: Caller) -> None:
    assert verify(sign(caller)) == caller


@few
@given(st.one_of(st.text(max_size=80), st.binary(max_size=80)))
def test_garbage_is_no_identity(token: str | bytes) -> None:
    with pytest.raises(CredentialInvalid):
        verify(token)


@few
@given(
    st.dictionaries(
        st.sampled_from(["sub", "tenant", "role", "namespaces", "request", "trace"]),
        st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
    )
)
def test_signed_claims_of_other_types_are_refused(claims: dict[str, object]) -> None:
    now = int(time.time())
    token = jwt.encode(
        {**claims, "aud": "rearview-internal/writer", "method": METHOD, "iat": now, "exp": now + 9},
        KEY,
        algorithm="HS256",
    )
    with pytest.raises(CredentialInvalid):
        verify(token)


def test_another_key_another_audience_and_no_signature_are_refused() -> None:
    token = sign(CALLER)
    with pytest.raises(CredentialInvalid):
        verify(token, "x" * 32)
    claims = jwt.decode(token, options={"verify_signature": False})
    with pytest.raises(CredentialInvalid):
        verify(jwt.encode({**claims, "aud": "elsewhere"}, KEY, algorithm="HS256"))
    with pytest.raises(CredentialInvalid):
        verify(jwt.encode(claims, "", algorithm="none"))
    with pytest.raises(CredentialInvalid):
        verify(jwt.encode(claims, "k" * 64, algorithm="HS512"))
    header, payload, signature = token.split(".")
    forged = json.loads(base64.urlsafe_b64decode(payload + "=="))
    forged["role"] = "admin"
    body = base64.urlsafe_b64encode(json.dumps(forged).encode()).rstrip(b"=").decode()
    with pytest.raises(CredentialInvalid):
        verify(f"{header}.{body}.{signature}")


def test_an_expired_identity_is_refused_beyond_the_clock_skew() -> None:
    assert verify(sign(CALLER, ttl_seconds=-2)) == CALLER
    with pytest.raises(CredentialInvalid, match="expired"):
        verify(sign(CALLER, ttl_seconds=-10))


def test_an_identity_is_good_for_one_method_of_one_service() -> None:
    token = sign(CALLER)
    assert verify(token) == CALLER
    for elsewhere in (
        {"service": "retriever"},
        {"method": "/rearview.internal.v1.WriterService/Forget"},
        {"method": ""},
    ):
        with pytest.raises(CredentialInvalid):
            verify(token, **elsewhere)
    claims = jwt.decode(token, options={"verify_signature": False})
    del claims["method"]
    with pytest.raises(CredentialInvalid):
        verify(jwt.encode(claims, KEY, algorithm="HS256"))


def test_a_key_is_replaced_while_services_are_restarted_one_by_one() -> None:
    steps = (OLD, f"{OLD},{NEW}", f"{NEW},{OLD}", NEW)
    for before, after in pairwise(steps):
        for signing, verifying in ((before, after), (after, before), (after, after)):
            assert verify(sign(CALLER, signing), verifying) == CALLER
    with pytest.raises(CredentialInvalid):
        verify(sign(CALLER, OLD), NEW)
    with pytest.raises(CredentialInvalid, match="expired"):
        verify(sign(CALLER, OLD, ttl_seconds=-10), f"{NEW},{OLD}")


@pytest.mark.parametrize("keys", ["short", "", f"{KEY},short", f"{KEY},{KEY}", f"{OLD},{NEW},{KEY}"])
def test_keys_that_cannot_be_used_are_a_configuration_error(keys: str) -> None:
    with pytest.raises(ValueError, match=r"32 bytes|twice|one key or two"):
        parse_internal_keys(keys)


def test_a_scope_is_given_for_listed_namespaces_only() -> None:
    scope = scope_of(CALLER, "default", Access.READ)
    assert (scope.tenant_id, scope.namespace_id, scope.principal) == (UUID(int=7), UUID(int=9), "agent")
    with pytest.raises(NamespaceDenied) as denied:
        scope_of(CALLER, "default", Access.WRITE)
    assert denied.value.metadata == {"namespace": "default", "access": "write"}
    with pytest.raises(NamespaceDenied):
        scope_of(CALLER, "other", Access.READ)
    with pytest.raises(NamespaceDenied):
        scope_of(Caller(None, "op", Role.OPERATOR, CALLER.namespaces), "default", Access.READ)
