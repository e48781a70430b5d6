"""Namespaces as rows."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rearview.domain.tenancy import Namespace, Visibility


def namespace_parameters(tenant_id: UUID, namespace: Namespace) -> dict[str, Any]:
    """Return the parameters of the statements that insert a namespace."""
    return {
        "tenant_id": tenant_id,
        "namespace_id": namespace.namespace_id,
        "name": namespace.name,
        "display_name": namespace.display_name,
        "visibility": int(namespace.visibility),
        "owner": namespace.owner,
        "forget_grace_period": namespace.forget_grace_period,
        "created_at": namespace.created_at,
    }


def namespace_of(row: Sequence[Any]) -> Namespace:
    """Return the namespace of a row of the statements `get` and `page_of_readable`."""
    namespace_id, name, owner, created_at, updated_at, display_name, visibility, grace, memories, version = row
    return Namespace(
        namespace_id=namespace_id,
        name=name,
        owner=owner,
        created_at=created_at,
        updated_at=updated_at,
        display_name=display_name,
        visibility=Visibility(visibility),
        forget_grace_period=grace,
        memory_count=memories,
        version=version,
    )
