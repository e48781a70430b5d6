"""From a token's claims, whose signature has been checked, to whom it speaks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rearview.domain.errors import CredentialInvalid
from rearview.domain.names import NAMESPACE_ID, PRINCIPAL_ID
from rearview.domain.principal import Access, Role

MAX_NAMESPACES = 100

# The operator is not among them: the platform's own key does not come from a tenant's identity provider.
_ROLES = (Role.ADMIN, Role.WRITE, Role.READ)


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """What the issuer calls the claims; dots lead into objects (`realm_access.roles`)."""

    principal: str = "sub"
    tenant: str = "tenant"
    roles: str = "roles"
    namespaces: str = "namespaces"
    grants: str = "namespace_grants"


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """Whom a token speaks for. `namespaces` empty: it is not limited; `grants` is access beside the stored one."""

    tenant: str
    principal: str
    role: Role
    namespaces: tuple[str, ...] = ()
    grants: Mapping[str, Access] = field(default_factory=dict)


def identity_in(claims: Mapping[str, Any], names: ClaimNames) -> TokenIdentity:
    """Return whom the claims speak for.

    Raises:
        CredentialInvalid: a claim is missing or malformed; its name stands in the metadata `claim`.
    """
    return TokenIdentity(
        tenant=_name(claims, names.tenant),
        principal=_name(claims, names.principal),
        role=_role(claims, names.roles),
        namespaces=_namespaces(claims, names.namespaces),
        grants=_grants(claims, names.grants),
    )


def bad_claim(claim: str, problem: str) -> CredentialInvalid:
    """Return the error for a token with a claim that cannot be used."""
    return CredentialInvalid(f"the token's claim {claim} {problem}", problem="claim", claim=claim)


def _name(claims: Mapping[str, Any], claim: str) -> str:
    value = _found(claims, claim)
    if not isinstance(value, str) or not PRINCIPAL_ID.fullmatch(value):
        raise bad_claim(claim, f"must match {PRINCIPAL_ID.pattern}")
    return value


def _role(claims: Mapping[str, Any], claim: str) -> Role:
    value = _found(claims, claim)
    held = value.split(" ") if isinstance(value, str) else value
    if isinstance(held, list):
        # An issuer's other roles are none of ours.
        for role in _ROLES:
            if role.value in held:
                return role
    raise bad_claim(claim, "must name one of the roles admin, write, read")


def _namespaces(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    value = _found(claims, claim)
    if value is None:
        return ()
    if not isinstance(value, list) or not 0 < len(value) <= MAX_NAMESPACES or not all(map(_is_namespace, value)):
        # Empty could be read as "all" or as "none"; who means "all" leaves it out.
        raise bad_claim(claim, f"must be a list of 1 to {MAX_NAMESPACES} ids of namespaces")
    return tuple(dict.fromkeys(value))


def _grants(claims: Mapping[str, Any], claim: str) -> Mapping[str, Access]:
    value = _found(claims, claim)
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > MAX_NAMESPACES or not all(map(_is_namespace, value)):
        raise bad_claim(claim, f"must be an object of at most {MAX_NAMESPACES} ids of namespaces")
    try:
        return {name: Access(access) for name, access in value.items()}
    except ValueError:
        raise bad_claim(claim, "must say read or write for each namespace") from None


def _is_namespace(value: object) -> bool:
    return isinstance(value, str) and NAMESPACE_ID.fullmatch(value) is not None


def _found(claims: Mapping[str, Any], claim: str) -> Any:
    # Names may hold dots themselves, as those that are URLs do.
    if claim in claims:
        return claims[claim]
    value: Any = claims
    for part in claim.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
