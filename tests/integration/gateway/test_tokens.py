"""Tokens of an issuer: a real key set over HTTP, good tokens, and every way to cheat that is known."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.protobuf.field_mask_pb2 import FieldMask

from rearview.domain import errors
from rearview.v1 import memory_service_pb2, namespace_pb2, tenant_pb2
from tests.support.grpc_errors import code_of, failure_of
from tests.support.issuer import AUDIENCE, ISSUER, Issuer, running_issuer
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls

LISTING = namespace_pb2.ListNamespacesRequest()
SETTINGS: dict[str, Any] = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_retry_seconds": 0.0}


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest_asyncio.fixture
async def gateway(database: DatabaseUrls, issuer: Issuer) -> AsyncIterator[RunningGateway]:
    """A gateway that takes the issuer's tokens, with the tenant `acme`."""
    async with running_gateway(database, jwt_keys=issuer.url, **SETTINGS) as running:
        await running.new_tenant("acme")
        yield running


def listing(gateway: RunningGateway, token: str) -> Any:
    return gateway.namespaces.ListNamespaces(LISTING, metadata=bearer(token))


async def problem_of(gateway: RunningGateway, token: str) -> str:
    """Return what is told to be wrong with a token; of a claim, its name."""
    code, error = await failure_of(listing(gateway, token))
    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert type(error) is errors.CredentialInvalid
    return error.metadata.get("claim") or error.metadata["problem"]


def for_acme(issuer: Issuer, *arguments: str, **claims: Any) -> str:
    return issuer.token(*arguments, **{"tenant": "acme", **claims})


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_speaks_for_its_principal(gateway: RunningGateway, issuer: Issuer, algorithm: str) -> None:
    issuer.new_key("own", algorithm)
    token = for_acme(issuer, "own", algorithm, aud=["other", AUDIENCE], sub="helper.bot")
    made = await gateway.namespaces.CreateNamespace(
        namespace_pb2.CreateNamespaceRequest(namespace_id="notes"), metadata=bearer(token)
    )
    assert made.owner == "helper.bot"
    await gateway.memories.ListMemories(
        memory_service_pb2.ListMemoriesRequest(parent="namespaces/notes"), metadata=bearer(token)
    )
    caller = gateway.retriever.last.caller
    assert (caller.principal, caller.role.value, list(caller.namespaces)) == ("helper.bot", "write", ["notes"])


async def test_roles_limits_and_grants_come_from_the_claims(gateway: RunningGateway, issuer: Issuer) -> None:
    owner = for_acme(issuer, sub="owner")
    for name in ("first", "second"):
        await gateway.namespaces.CreateNamespace(
            namespace_pb2.CreateNamespaceRequest(namespace_id=name), metadata=bearer(owner)
        )

    async def reached(token: str, *, write: bool = False) -> set[str]:
        found = set()
        for name in ("first", "second"):
            session = f"namespaces/{name}/sessions/s"
            if write:
                end = memory_service_pb2.EndSessionRequest(name=session)
                code = await code_of(gateway.memories.EndSession(end, metadata=bearer(token)))
            else:
                read = memory_service_pb2.ListEventsRequest(parent=session)
                code = await code_of(gateway.memories.ListEvents(read, metadata=bearer(token)))
            assert code in (grpc.StatusCode.OK, grpc.StatusCode.PERMISSION_DENIED)
            if code is grpc.StatusCode.OK:
                found.add(name)
        listed = await listing(gateway, token)
        assert {"first", "second"} & {n.name.removeprefix("namespaces/") for n in listed.namespaces} >= found
        return found

    assert await reached(for_acme(issuer, sub="owner"), write=True) == {"first", "second"}
    assert await reached(for_acme(issuer, sub="owner", namespaces=["second"]), write=True) == {"second"}
    assert await reached(for_acme(issuer, sub="guest")) == set()
    granted = {"first": "read", "second": "write"}
    assert await reached(for_acme(issuer, sub="guest", namespace_grants=granted)) == {"first", "second"}
    assert await reached(for_acme(issuer, sub="guest", namespace_grants=granted), write=True) == {"second"}
    narrowed = for_acme(issuer, sub="guest", namespace_grants=granted, namespaces=["first"])
    assert await reached(narrowed) == {"first"}
    reader = for_acme(issuer, sub="guest", namespace_grants=granted, roles="read")
    assert await reached(reader) == {"first", "second"}
    assert await reached(reader, write=True) == set()
    admin = for_acme(issuer, sub="chief", roles=["staff", "read", "admin"])
    assert await reached(admin, write=True) == {"first", "second"}


async def test_a_token_of_one_tenant_does_not_reach_another(gateway: RunningGateway, issuer: Issuer) -> None:
    await gateway.new_tenant("other")
    mine = for_acme(issuer, sub="owner")
    await gateway.namespaces.CreateNamespace(
        namespace_pb2.CreateNamespaceRequest(namespace_id="notes"), metadata=bearer(mine)
    )
    theirs = issuer.token(tenant="other", sub="owner", namespace_grants={"notes": "write"}, roles=["admin"])
    code, error = await failure_of(
        gateway.memories.ListSessions(
            memory_service_pb2.ListSessionsRequest(parent="namespaces/notes"), metadata=bearer(theirs)
        )
    )
    assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.NamespaceDenied)


def unsigned(header: dict[str, Any], token: str) -> str:
    """Return a token with another header and no signature."""
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{head}.{token.split('.')[1]}."


def with_secret(issuer: Issuer, secret: bytes) -> str:
    """Return a token that is signed with HS256 and a text that everybody knows."""
    # PyJWT itself refuses to sign with a public key, so this is signed by hand.
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "first", "typ": "JWT"}).encode()).rstrip(b"=")
    signed = head + b"." + for_acme(issuer).split(".")[1].encode()
    mac = base64.urlsafe_b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).rstrip(b"=")
    return (signed + b"." + mac).decode()


def public_pem(issuer: Issuer) -> bytes:
    pem: bytes = issuer.private_keys["first"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


def tampered(issuer: Issuer) -> str:
    head, body, signature = for_acme(issuer, roles=["read"]).split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["roles"] = ["admin"]
    changed = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"{head}.{changed}.{signature}"


def of_a_stranger(issuer: Issuer, **headers: Any) -> str:
    stranger = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    claims = jwt.decode(for_acme(issuer), options={"verify_signature": False})
    return jwt.encode(claims, stranger, algorithm="RS256", headers={"kid": "first", **headers})


def in_the_future(issuer: Issuer) -> str:
    return for_acme(issuer, nbf=int(time.time()) + 600)


ATTACKS: dict[str, tuple[Callable[[Issuer], str], str]] = {
    "no signature": (lambda i: unsigned({"alg": "none", "kid": "first", "typ": "JWT"}, for_acme(i)), "algorithm"),
    "no signature, odd spelling": (lambda i: unsigned({"alg": "nOnE", "kid": "first"}, for_acme(i)), "algorithm"),
    "no algorithm": (lambda i: unsigned({"kid": "first"}, for_acme(i)), "algorithm"),
    "algorithm of another type": (lambda i: unsigned({"alg": ["RS256"], "kid": "first"}, for_acme(i)), "algorithm"),
    "stripped signature": (lambda i: unsigned({"alg": "RS256", "kid": "first"}, for_acme(i)), "signature"),
    "public key as a secret": (lambda i: with_secret(i, public_pem(i)), "algorithm"),
    "key set as a secret": (lambda i: with_secret(i, json.dumps(i.published[0]).encode()), "algorithm"),
    "empty secret": (lambda i: with_secret(i, b""), "algorithm"),
    "an algorithm that is not allowed": (lambda i: for_acme(i, "first", "PS256"), "algorithm"),
    "another algorithm of a key for any": (lambda i: for_acme(i, "any", "PS256"), "algorithm"),
    "a key of another algorithm": (lambda i: for_acme(i, "first", headers={"kid": "curve"}), "algorithm"),
    "changed claims": (tampered, "signature"),
    "a stranger's key": (of_a_stranger, "signature"),
    "a key that the token brings": (
        lambda i: of_a_stranger(i, jwk=i.published[0], jku="https://evil.example/keys"),
        "signature",
    ),
    "a key that nobody publishes": (lambda i: for_acme(i, headers={"kid": "../../etc/passwd"}), "key"),
    "no key id": (lambda i: unsigned({"alg": "RS256"}, for_acme(i)), "key"),
    "a header that must be understood": (lambda i: for_acme(i, headers={"crit": ["exp"]}), "malformed"),
    "a token of another kind": (lambda i: for_acme(i, headers={"typ": "logout+jwt"}), "type"),
    "another issuer": (lambda i: for_acme(i, iss="https://evil.example"), "issuer"),
    "another audience": (lambda i: for_acme(i, aud="elsewhere"), "audience"),
    "not valid yet": (in_the_future, "not_yet_valid"),
    "issued in the future": (lambda i: for_acme(i, iat=int(time.time()) + 600), "not_yet_valid"),
    "good for ever": (lambda i: for_acme(i, without=("exp",)), "exp"),
    "good for too long": (lambda i: for_acme(i, exp=int(time.time()) + 90_000), "lifetime"),
    "an expiry that is no number": (lambda i: for_acme(i, exp=float("nan")), "exp"),
    "no issuer": (lambda i: for_acme(i, without=("iss",)), "iss"),
    "no audience": (lambda i: for_acme(i, without=("aud",)), "aud"),
    "no tenant": (lambda i: i.token(), "tenant"),
    "no such tenant": (lambda i: i.token(tenant="nobody"), "tenant"),
    "tenant of another type": (lambda i: i.token(tenant=["acme"]), "tenant"),
    "no principal": (lambda i: for_acme(i, without=("sub",)), "sub"),
    "a principal that is none": (lambda i: for_acme(i, sub="Robert'); DROP TABLE tenant;--"), "sub"),
    "no role": (lambda i: for_acme(i, without=("roles",)), "roles"),
    "the operator's role": (lambda i: for_acme(i, roles=["operator"]), "roles"),
    "a role in another spelling": (lambda i: for_acme(i, roles=["ADMIN"]), "roles"),
    "limited to nothing": (lambda i: for_acme(i, namespaces=[]), "namespaces"),
    "namespaces of another type": (lambda i: for_acme(i, namespaces="notes"), "namespaces"),
    "a grant of another kind": (lambda i: for_acme(i, namespace_grants={"notes": "own"}), "namespace_grants"),
    "grants of another type": (lambda i: for_acme(i, namespace_grants=["notes"]), "namespace_grants"),
    "a body that is no object": (
        lambda i: jwt.PyJWS().encode(b"[]", i.private_keys["first"], "RS256", {"kid": "first"}),
        "malformed",
    ),
    "a body that is no text": (
        lambda i: jwt.PyJWS().encode(b"\xff\xfe", i.private_keys["first"], "RS256", {"kid": "first"}),
        "malformed",
    ),
    "noise": (lambda i: "a.b.c", "malformed"),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_attacks_are_refused_and_told(attacked: RunningGateway, crooked: Issuer, attack: str) -> None:
    make, problem = ATTACKS[attack]
    assert await problem_of(attacked, make(crooked)) == problem
    assert (await listing(attacked, for_acme(crooked))).namespaces is not None


@pytest.fixture(scope="module")
def crooked() -> Iterator[Issuer]:
    with running_issuer() as running:
        running.new_key("curve", "ES256")
        del running.new_key("any")["alg"]
        yield running


@pytest_asyncio.fixture(scope="module")
async def attacked(module_database: DatabaseUrls, crooked: Issuer) -> AsyncIterator[RunningGateway]:
    """One gateway for all attacks: they leave nothing behind."""
    async with running_gateway(module_database, jwt_keys=crooked.url, **SETTINGS) as running:
        await running.new_tenant("acme")
        yield running


async def test_an_expired_token_says_when(gateway: RunningGateway, issuer: Issuer) -> None:
    await listing(gateway, for_acme(issuer, exp=int(time.time()) - 5))  # within the clock skew
    code, error = await failure_of(listing(gateway, for_acme(issuer, exp=0)))
    assert (code, type(error)) == (grpc.StatusCode.UNAUTHENTICATED, errors.CredentialExpired)
    assert error.metadata == {"expire_time": "1970-01-01T00:00:00+00:00"}


async def test_a_disabled_tenant_s_tokens_are_refused(gateway: RunningGateway, issuer: Issuer) -> None:
    await listing(gateway, for_acme(issuer))
    await gateway.tenants.UpdateTenant(
        tenant_pb2.UpdateTenantRequest(
            tenant=tenant_pb2.Tenant(name="tenants/acme", disabled=True), update_mask=FieldMask(paths=["disabled"])
        ),
        metadata=bearer(OPERATOR_KEY),
    )
    code, error = await failure_of(listing(gateway, for_acme(issuer)))
    assert (code, type(error)) == (grpc.StatusCode.PERMISSION_DENIED, errors.TenantDisabled)


async def test_keys_are_rotated_while_the_gateway_runs(gateway: RunningGateway, issuer: Issuer) -> None:
    await listing(gateway, for_acme(issuer))
    issuer.new_key("second", publish=False)
    assert await problem_of(gateway, for_acme(issuer, "second")) == "key"
    issuer.new_key("third")
    await listing(gateway, for_acme(issuer, "third"))
    await listing(gateway, for_acme(issuer))
    issuer.withdraw("first")
    assert await problem_of(gateway, for_acme(issuer, headers={"kid": "whatever"})) == "key"
    assert await problem_of(gateway, for_acme(issuer)) == "key"
    await listing(gateway, for_acme(issuer, "third"))


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"oops"),
        (302, b""),
        (200, b"not json"),
        (200, b'{"keys": 7}'),
        (200, b'{"keys": [' + b",".join([b"{}"] * 101) + b"]}"),
        (200, b" " * 300_000),
    ],
    ids=["error", "redirect", "no json", "no list", "too many", "too long"],
)
async def test_an_issuer_that_answers_nonsense_lets_nobody_in_and_locks_nobody_out(
    gateway: RunningGateway, issuer: Issuer, answer: tuple[int, bytes]
) -> None:
    issuer.answer = answer
    code, error = await failure_of(listing(gateway, for_acme(issuer)))
    assert (code, error.metadata) == (grpc.StatusCode.UNAVAILABLE, {"dependency": "jwks"})
    await gateway.tenants.ListTenants(tenant_pb2.ListTenantsRequest(), metadata=bearer(OPERATOR_KEY))
    issuer.answer = None
    await listing(gateway, for_acme(issuer))
    issuer.answer = answer
    assert await problem_of(gateway, for_acme(issuer, headers={"kid": "unknown"})) == "key"
    await listing(gateway, for_acme(issuer))


async def test_keys_may_come_from_a_file_and_claims_have_names_of_one_s_own(
    database: DatabaseUrls, issuer: Issuer, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": issuer.published}))
    named: dict[str, Any] = {
        "jwt_principal_claim": "azp",
        "jwt_tenant_claim": "https://rearview.example/tenant",
        "jwt_roles_claim": "realm_access.roles",
    }
    async with running_gateway(database, jwt_keys=str(keys), **SETTINGS, **named) as gateway:
        await gateway.new_tenant("acme")
        claims: dict[str, Any] = {
            "azp": "bot",
            "https://rearview.example/tenant": "acme",
            "realm_access": {"roles": ["read"]},
        }
        await listing(gateway, issuer.token(sub="8a1c|X", **claims))
        assert issuer.requests == 0
        issuer.new_key("second")
        keys.write_text(json.dumps({"keys": issuer.published}))
        await listing(gateway, issuer.token("second", **claims))


async def test_without_an_issuer_no_token_is_accepted(database: DatabaseUrls, issuer: Issuer) -> None:
    async with running_gateway(database) as gateway:
        await gateway.new_tenant("acme")
        assert await problem_of(gateway, for_acme(issuer)) == "not_accepted"
