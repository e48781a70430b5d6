"""From the text of a JSON Web Key Set to the keys in it that may check signatures."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.exceptions import PyJWTError

from rearview.ports.signing_keys import VerificationKey

MAX_KEYS = 100
LONGEST_KEY_ID = 256
MIN_RSA_BITS = 2_048

_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
# Each kind of key with its own reader: what an RSA key is may never depend on what a token's header says. Symmetric
# keys (`oct`) are not among them, so that no public text can serve as the secret of an HMAC.
_READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "RSA": lambda jwk: RSAAlgorithm.from_jwk(dict(jwk)),
    "EC": lambda jwk: ECAlgorithm.from_jwk(dict(jwk)),
    "OKP": lambda jwk: OKPAlgorithm.from_jwk(dict(jwk)),
}


def parse_key_set(document: bytes) -> dict[str, VerificationKey]:
    """Return the usable keys by their ids; those of other kinds, for other uses, weak or broken are passed over.

    Raises:
        ValueError: the text is no key set, or has more than 100 keys.
    """
    try:
        found = json.loads(document)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list):
        raise ValueError("has no list `keys`")
    if len(keys) > MAX_KEYS:
        raise ValueError(f"has {len(keys)} keys; at most {MAX_KEYS} are read")
    usable = (_usable(jwk) for jwk in keys if isinstance(jwk, dict))
    return {key.key_id: key for key in usable if key is not None}


def _usable(jwk: Mapping[str, Any]) -> VerificationKey | None:
    key_id, operations = jwk.get("kid"), jwk.get("key_ops", ["verify"])
    if not isinstance(key_id, str) or not 0 < len(key_id) <= LONGEST_KEY_ID:
        return None
    # "d": whoever publishes a private key has no key any more.
    if jwk.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations or "d" in jwk:
        return None
    algorithms = _algorithms(jwk)
    if "alg" in jwk:
        algorithms &= {jwk["alg"]} if isinstance(jwk["alg"], str) else frozenset()
    if not algorithms:
        return None
    try:
        public_key = _READERS[jwk["kty"]](jwk)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
    if jwk["kty"] == "RSA" and public_key.key_size < MIN_RSA_BITS:
        return None
    return VerificationKey(key_id, algorithms, public_key)


def _algorithms(jwk: Mapping[str, Any]) -> frozenset[str]:
    kind, curve = jwk.get("kty"), jwk.get("crv")
    if kind == "RSA":
        return _RSA
    if kind == "EC" and isinstance(curve, str) and curve in _CURVES:
        return frozenset({_CURVES[curve]})
    return frozenset({"EdDSA"}) if kind == "OKP" and curve == "Ed25519" else frozenset()
