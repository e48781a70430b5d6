"""Whose tokens are accepted, and what their claims are called."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, FilePath, ValidationInfo, field_validator

from rearview.rpc.settings import Settings, is_loopback

ASYMMETRIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""The only algorithms that can be allowed: none in which what checks a signature could also make one."""


def _algorithms(text: str) -> str:
    unknown = [name for name in names_in(text) if name not in ASYMMETRIC]
    if unknown or not names_in(text):
        raise ValueError(f"must be some of {', '.join(ASYMMETRIC)}, separated by commas")
    return text


def _keys(place: str) -> str:
    url = urlsplit(place)
    if url.scheme in {"http", "https"}:
        if url.hostname is None or url.username is not None:
            raise ValueError("must be an https URL without a user, or the path of a file")
        if url.scheme == "http" and not is_loopback(url.hostname):
            raise ValueError("must be an https URL: whoever can alter the keys on their way can make tokens")
    elif not Path(place).is_file():
        raise ValueError("must be an https URL or the path of a file that exists")
    return place


class TokenConfig(Settings):
    """Issuer, audience and keys: all three, or none, and no token is accepted.

    Attributes:
        jwt_issuer: the claim `iss` of every token that is accepted.
        jwt_audience: what has to be among the claim `aud`.
        jwt_keys: the issuer's JSON Web Key Set: an https URL, or the path of a file.
        jwt_keys_ca_file: authorities for that URL, PEM; without it those of the system.
        jwt_algorithms: signature algorithms that are accepted, separated by commas; asymmetric ones only.
        jwt_refresh_seconds: how often the keys are read again. One that is not known yet is asked for at once.
        jwt_retry_seconds: how long the issuer is not asked again, whether it did not answer or did not know a key.
        jwt_leeway_seconds: how far the issuer's clock may be off.
        jwt_longest_seconds: tokens that are good for longer than this are refused, since none can be taken back.
        jwt_principal_claim: the claim that names the principal.
        jwt_tenant_claim: the claim that names the tenant.
        jwt_roles_claim: the claim with the role, or with a list of which one role may be there; dots lead into objects.
        jwt_namespaces_claim: the claim that limits a token to some namespaces; it may be missing.
        jwt_grants_claim: the claim that grants access to further namespaces; it may be missing.
    """

    jwt_issuer: str | None = Field(default=None, min_length=1)
    jwt_audience: str | None = Field(default=None, min_length=1, validate_default=True)
    jwt_keys: Annotated[str, AfterValidator(_keys)] | None = Field(default=None, validate_default=True)
    jwt_keys_ca_file: FilePath | None = None
    jwt_algorithms: Annotated[str, AfterValidator(_algorithms)] = "RS256,ES256,EdDSA"
    jwt_refresh_seconds: float = Field(default=300.0, ge=10, le=86_400)
    jwt_retry_seconds: float = Field(default=10.0, ge=0, le=300)
    jwt_leeway_seconds: float = Field(default=30.0, ge=0, le=300)
    jwt_longest_seconds: float = Field(default=86_400.0, ge=60, le=31_536_000)
    jwt_principal_claim: str = Field(default="sub", min_length=1)
    jwt_tenant_claim: str = Field(default="tenant", min_length=1)
    jwt_roles_claim: str = Field(default="roles", min_length=1)
    jwt_namespaces_claim: str = Field(default="namespaces", min_length=1)
    jwt_grants_claim: str = Field(default="namespace_grants", min_length=1)

    @field_validator("jwt_audience", "jwt_keys")
    @classmethod
    def _tokens_all_or_none(cls, value: str | None, info: ValidationInfo) -> str | None:
        if "jwt_issuer" in info.data and (value is None) != (info.data["jwt_issuer"] is None):
            raise ValueError("is needed with REARVIEW_JWT_ISSUER, and only with it")
        return value


def names_in(text: str) -> tuple[str, ...]:
    """Return the parts of a list that is separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
