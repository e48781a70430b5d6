"""Identities that serve more than once."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest

from rearview.domain.errors import CredentialInvalid
from rearview.domain.expiring_map import ExpiringMap
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.rpc import known_identities
from rearview.rpc.call_context import begin_call
from rearview.rpc.identity import sign_identity
from rearview.rpc.internal_keys import parse_internal_keys
from rearview.rpc.known_identities import SignedIdentities, VerifiedIdentities
from rearview.telemetry.trace_context import TraceContext, enter_trace

KEYS = parse_internal_keys("k" * 32)
METHOD, OTHER = "/rearview.internal.v1.WriterService/Remember", "/rearview.internal.v1.WriterService/Forget"
CALLER = Caller(
    UUID(int=7), "agent", Role.WRITE, {"default": NamespaceAccess(UUID(int=9), Access.READ)}, "r-1", "1" * 32
)


def test_one_token_serves_the_same_caller_for_the_same_method_and_nobody_else() -> None:
    signed = SignedIdentities(KEYS, "writer")
    token = signed.of(CALLER, METHOD)
    assert signed.of(replace(CALLER, request_id="r-2", trace_id="2" * 32), METHOD) == token
    other_access = {"default": NamespaceAccess(UUID(int=9), Access.WRITE)}
    others = [
        (replace(CALLER, tenant_id=UUID(int=8)), METHOD),
        (replace(CALLER, principal="other"), METHOD),
        (replace(CALLER, role=Role.ADMIN), METHOD),
        (replace(CALLER, namespaces=other_access), METHOD),
        (replace(CALLER, namespaces={"other": NamespaceAccess(UUID(int=9), Access.READ)}), METHOD),
        (replace(CALLER, namespaces={}), METHOD),
        (CALLER, OTHER),
    ]
    tokens = {signed.of(*other) for other in others}
    assert len({token, *tokens}) == len(others) + 1


async def test_a_token_that_served_says_which_request_it_serves_now() -> None:
    """In a task of its own, as every call: what it binds is gone with it."""
    token = SignedIdentities(KEYS, "writer").of(CALLER, METHOD)
    verified = VerifiedIdentities(KEYS, "writer")
    for at in ("3", "4"):
        begin_call(f"r-{at}", None)
        enter_trace(TraceContext(at * 32, "5" * 16))
        caller = verified.caller(token, METHOD)
        assert caller == replace(CALLER, request_id=f"r-{at}", trace_id=at * 32)
    # A gateway of an earlier version signs the request, too.
    assert verified.caller(sign_identity(CALLER, KEYS, "writer", METHOD), METHOD) == CALLER


def test_what_was_verified_is_good_for_its_method_alone_and_until_it_expires(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]

    def on_this_clock(most: int) -> ExpiringMap[Caller]:
        return ExpiringMap(most, lambda: now[0])

    make: Callable[[int], ExpiringMap[Caller]] = on_this_clock
    monkeypatch.setattr(known_identities, "ExpiringMap", make)
    verified = VerifiedIdentities(KEYS, "writer")
    token = sign_identity(CALLER, KEYS, "writer", METHOD, ttl_seconds=-2)  # within the skew that clocks may have
    assert verified.caller(token, METHOD) == CALLER
    for changed, method in ((token, OTHER), (token[:-1], METHOD), (token.upper(), METHOD), ("", METHOD)):
        with pytest.raises(CredentialInvalid):
            verified.caller(changed, method)
    # As if the check were the last one: with no key that fits, only what is known passes.
    monkeypatch.setattr(known_identities, "verify_identity", _refuses)
    now[0] = 2.0
    assert verified.caller(token, METHOD) == CALLER
    now[0] = 3.1
    with pytest.raises(CredentialInvalid):
        verified.caller(token, METHOD)


def _refuses(*_: object) -> tuple[Caller, float]:
    raise CredentialInvalid("nothing fits")
