"""Who is calling, and what they may reach."""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from rearview.domain.errors import RoleInsufficient


class Role(StrEnum):
    """What a principal may do. A tenant's roles are ordered; the operator stands beside them, not above."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    OPERATOR = "operator"

    def includes(self, required: "Role") -> bool:
        """True if a principal of this role may call a method that requires `required`."""
        if Role.OPERATOR in (self, required):
            return self is required
        order = (Role.READ, Role.WRITE, Role.ADMIN)
        return order.index(self) >= order.index(required)


def check_role(role: Role, required: Role, method: str) -> None:
    """Check that a principal of a role may call a method (`/package.Service/Method`).

    Raises:
        RoleInsufficient: it may not.
    """
    if not role.includes(required):
        raise RoleInsufficient(
            f"the method needs the role {required.value}, the caller has the role {role.value}",
            method=method,
            required_role=required.value,
            role=role.value,
        )


class Access(StrEnum):
    """What a principal may do in one namespace."""

    READ = "read"
    WRITE = "write"

    def includes(self, required: "Access") -> bool:
        """True if this access is enough where `required` is asked for."""
        return self is Access.WRITE or required is Access.READ


@dataclass(frozen=True, slots=True)
class NamespaceAccess:
    """A namespace that a call may reach, and how."""

    namespace_id: UUID
    access: Access


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a call speaks for, as the gateway established it; passed on, signed, to the services behind.

    `tenant_id` is None for the operator only. `namespaces` holds, by name, just the namespaces that the request
    names and the caller may reach; what is not in it is denied.
    """

    tenant_id: UUID | None
    principal: str
    role: Role
    namespaces: dict[str, NamespaceAccess] = field(default_factory=dict)
    request_id: str = ""
    trace_id: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """One namespace of one tenant, in which a use case reads or writes, and who asked for it (for the audit)."""

    tenant_id: UUID
    namespace_id: UUID
    namespace: str
    principal: str = ""
    request_id: str = ""
    trace_id: str = ""
