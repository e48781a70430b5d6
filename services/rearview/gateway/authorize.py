"""May this caller make this request? If so, who is it, and which namespaces does the request reach?"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rearview.domain.errors import (
    CredentialMissing,
    FeatureNotOffered,
    InvalidFields,
    NamespaceDenied,
    NotFound,
    invalid_field,
)
from rearview.domain.names import parse_identified
from rearview.domain.principal import Access, Caller, NamespaceAccess, check_role
from rearview.gateway.access_rules import About, AccessRule, Need
from rearview.gateway.all_violations import AllViolations
from rearview.gateway.authenticate import Authenticator, Credential
from rearview.gateway.known_access import KnownAccess
from rearview.ports.access_states import AccessState
from rearview.ports.epochs import Epoch
from rearview.ports.tenancy_store import NamespaceDirectory, Reach, Reader
from rearview.rpc.call_context import current_request_id, set_caller
from rearview.telemetry.trace_context import current_trace

# The reached namespaces travel in the metadata of the call to the service behind, which has to stay small.
MAX_NAMESPACES_PER_CALL = 32


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call whose credential is proven and whose role suffices; its request has not been looked at yet."""

    credential: Credential
    rule: AccessRule
    state: AccessState


_admitted: ContextVar[Admitted | None] = ContextVar("rearview_gateway_admitted", default=None)


def current_credential() -> Credential:
    """Return the credential of the call being served.

    Raises:
        CredentialMissing: no credential was proven.
    """
    return _current().credential


def current_epochs() -> Mapping[UUID, Epoch]:
    """Return the epochs of namespaces that were read when the call being served was admitted: of those that it was
    expected to reach, which need not be all, nor those alone. Raises: CredentialMissing: no credential was proven."""
    return _current().state.epochs


class Authorizer:
    """Applies the table of rules: authenticate, check the role, find the namespaces, check the access to each. What a
    caller reaches by some names is looked up once, and again when anything of its tenant's access has changed."""

    def __init__(
        self,
        authenticator: Authenticator,
        directory: NamespaceDirectory,
        rules: Mapping[str, AccessRule],
        violations: AllViolations,
    ) -> None:
        self._authenticator = authenticator
        self._violations = violations
        self._directory = directory
        self._rules = rules
        self._reach: KnownAccess[Mapping[str, Reach]] = KnownAccess()

    async def admit(self, method: str, metadata: Iterable[tuple[str, str | bytes]], request: Any = None) -> None:
        """Prove the call's credential, check its role, and bind both to this task. Of `request`, which may not be known
        yet, nothing is judged here; it tells which epochs the call will ask for.

        Raises:
            CredentialMissing, CredentialInvalid, CredentialExpired, TenantDisabled: see `Authenticator`.
            RoleInsufficient: the role does not allow the method.
            FeatureNotOffered: no rule says who may call the method.
        """
        rule = self._rules.get(method)
        proven = await self._authenticator.authenticate(
            metadata, lambda credential: self._expected(rule, request, credential)
        )
        credential = proven.credential
        set_caller(_caller(credential, {}))
        if rule is None:
            raise FeatureNotOffered("this method is not offered", feature=method)
        check_role(credential.role, rule.role, method)
        _admitted.set(Admitted(credential, rule, proven.state))

    async def caller_of(self, request: Any) -> Caller:
        """Return the caller with the namespaces that this request reaches, each with just the access it needs.

        Raises:
            InvalidFields: a name in the request is malformed.
            NamespaceDenied: a namespace does not exist or may not be reached; the two are not told apart.
            NotFound: the receipt or trace that it names is of a namespace that may not be reached.
            CredentialMissing: the call was not admitted.
        """
        admitted = _current()
        namespaces = await self._reached(admitted, request)
        caller = _caller(admitted.credential, namespaces)
        set_caller(caller)
        return caller

    def _expected(self, rule: AccessRule | None, request: Any, credential: Credential) -> Collection[UUID]:
        """Return the namespaces that a recall reached the last time, for what it will ask of them."""
        if rule is None or not rule.recalls or request is None or request.no_cache:
            return ()
        try:
            names = rule.names(request)
        except InvalidFields:
            return ()  # told when the call has been admitted
        known = self._reach.get(_asked(credential.reader(), names, rule))
        if known is None:
            return ()
        return [known.value[name].access.namespace_id for name in _within_limit(known.value, names)]

    async def _reached(self, admitted: Admitted, request: Any) -> dict[str, NamespaceAccess]:
        credential, rule = admitted.credential, admitted.rule
        if credential.tenant_id is None or rule.about in (About.PLATFORM, About.PRINCIPAL):
            return {}
        reader = credential.reader()
        if rule.about in (About.RECEIPT, About.TRACE):
            return await self._of_resource(rule, request.name, reader)
        try:
            names = rule.names(request)
        except InvalidFields as error:
            raise self._violations.of(request, error) from error
        if not names:
            if reader.namespaces:
                raise NamespaceDenied(
                    "this key is limited to some namespaces, and the request concerns the whole tenant",
                    namespace="",
                    access=rule.need.value,
                )
            return {}
        if len(names) > MAX_NAMESPACES_PER_CALL:
            raise invalid_field("names", f"names {len(names)} namespaces; at most {MAX_NAMESPACES_PER_CALL} a request")
        known = self._reach.get(_asked(reader, names, rule))
        if known is not None and known.version == admitted.state.version:
            reached = known.value
        else:
            reached = await self._directory.reach(reader, names, subscribed=rule.recalls)
            if all(name in reached for name in names):
                # The state was read before, so what is newer here is found to be so by the next call.
                self._reach.keep(_asked(reader, names, rule), admitted.state.version, reached)
        for name in names:
            if not _suffices(reached.get(name), rule.need):
                raise NamespaceDenied(
                    f"namespace {name} does not exist or may not be reached for {rule.need.value}",
                    namespace=name,
                    access=rule.need.value,
                )
        return _narrowed(reached, _within_limit(reached, names), rule.need)

    async def _of_resource(self, rule: AccessRule, name: str, reader: Reader) -> dict[str, NamespaceAccess]:
        resource_id = parse_identified(name, rule.about.value, "name")
        if rule.about is About.RECEIPT:
            reached = await self._directory.reach_receipt(reader, resource_id)
        else:
            reached = await self._directory.reach_trace(reader, resource_id)
        if reached is None:
            return {}  # whoever keeps it says so, or has it while it is not stored yet
        if not reached or not all(_suffices(reach, rule.need) for reach in reached.values()):
            raise NotFound(f"{name} does not exist", resource_name=name)
        return _narrowed(reached, list(reached), rule.need)


def _asked(reader: Reader, names: Sequence[str], rule: AccessRule) -> Hashable:
    grants = frozenset(reader.grants.items())
    return reader.tenant_id, reader.principal, reader.role, reader.namespaces, grants, tuple(names), rule.recalls


def _within_limit(reached: Mapping[str, Reach], names: Sequence[str]) -> list[str]:
    """Return what a call reaches: what it names, and as many subscriptions as there is room for."""
    subscribed = [name for name in reached if name not in names]
    return [*names, *subscribed][:MAX_NAMESPACES_PER_CALL]


def _suffices(reach: Reach | None, need: Need) -> bool:
    if reach is None:
        return False
    if need is Need.OWN:
        return reach.owned
    return reach.access.access.includes(Access(need.value))


def _narrowed(reached: Mapping[str, Reach], names: list[str], need: Need) -> dict[str, NamespaceAccess]:
    access = Access.READ if need is Need.READ else Access.WRITE
    return {name: NamespaceAccess(reached[name].access.namespace_id, access) for name in names}


def _current() -> Admitted:
    admitted = _admitted.get()
    if admitted is None:
        raise CredentialMissing("no credential came with the call")
    return admitted


def _caller(credential: Credential, namespaces: dict[str, NamespaceAccess]) -> Caller:
    trace = current_trace()
    return Caller(
        tenant_id=credential.tenant_id,
        principal=credential.principal,
        role=credential.role,
        namespaces=namespaces,
        request_id=current_request_id(),
        trace_id=trace.trace_id if trace else "",
    )
