"""Which keys of a key set are used, and for what."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from rearview.adapters.jwks.key_set import parse_key_set
from tests.support.issuer import Issuer

ISSUER = Issuer()
RSA = ISSUER.new_key("rsa")
CURVE = ISSUER.new_key("curve", "ES256")
EDWARDS = ISSUER.new_key("edwards", "EdDSA")
MISSING = object()


def usable(*jwks: Any) -> dict[str, set[str]]:
    found = parse_key_set(json.dumps({"keys": list(jwks)}).encode())
    return {key_id: set(key.algorithms) for key_id, key in found.items()}


def changed(jwk: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {name: value for name, value in {**jwk, **fields}.items() if value is not MISSING}


def test_each_key_serves_the_algorithms_of_its_kind_and_no_other() -> None:
    assert usable(RSA, CURVE, EDWARDS) == {"rsa": {"RS256"}, "curve": {"ES256"}, "edwards": {"EdDSA"}}
    assert usable(changed(RSA, alg=MISSING)) == {"rsa": {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}}
    assert usable(changed(CURVE, alg=MISSING), changed(EDWARDS, alg=MISSING)) == {
        "curve": {"ES256"},
        "edwards": {"EdDSA"},
    }


@pytest.mark.parametrize(
    "jwk",
    [
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0", "alg": "HS256", "use": "sig"},
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0", "alg": "RS256"},
        changed(RSA, alg="HS256"),
        changed(RSA, alg="none"),
        changed(RSA, alg=["RS256"]),
        changed(RSA, alg="ES256"),
        changed(CURVE, alg="RS256"),
        changed(CURVE, crv="P-384"),
        changed(CURVE, crv="secp256k1", alg=MISSING),
        changed(CURVE, crv=["P-256"]),
        changed(EDWARDS, crv="X25519"),
        changed(RSA, use="enc"),
        changed(RSA, key_ops=["sign"]),
        changed(RSA, key_ops="verify"),
        changed(RSA, kid=MISSING),
        changed(RSA, kid=""),
        changed(RSA, kid=7),
        changed(RSA, kid="x" * 257),
        changed(RSA, n=MISSING),
        changed(RSA, n="%%%"),
        changed(RSA, kty=MISSING),
        changed({**RSA, **RSAAlgorithm.to_jwk(ISSUER.private_keys["rsa"], as_dict=True)}, key_ops=["sign", "verify"]),
        {**CURVE, **ECAlgorithm.to_jwk(ISSUER.private_keys["curve"], as_dict=True)},
        "a key",
    ],
)
def test_keys_that_cannot_check_a_signature_are_passed_over(jwk: Any) -> None:
    assert usable(jwk, EDWARDS) == {"edwards": {"EdDSA"}}


def test_a_weak_key_is_passed_over() -> None:
    weak = rsa.generate_private_key(public_exponent=65_537, key_size=1_024).public_key()
    assert usable({**RSAAlgorithm.to_jwk(weak, as_dict=True), "kid": "weak"}) == {}


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b'{"keys": {}}', b"\xff", b"[" * 100_000, b"null"])
def test_what_is_no_key_set_is_refused(document: bytes) -> None:
    with pytest.raises(ValueError, match=r"is not JSON|has no list"):
        parse_key_set(document)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["kid", "kty", "crv", "n", "e", "x", "y", "alg", "use", "key_ops"]),
            st.none()
            | st.text(max_size=5)
            | st.sampled_from(["RSA", "EC", "OKP", "P-256", "AQAB"])
            | st.lists(st.text()),
        ),
        max_size=3,
    )
)
def test_any_key_set_gives_keys_or_none(jwks: list[dict[str, Any]]) -> None:
    usable(*jwks)
