"""From a proven caller and a namespace's name to the scope in which a use case works."""

from rearview.domain.errors import NamespaceDenied
from rearview.domain.principal import Access, Caller, Scope


def scope_of(caller: Caller, namespace: str, access: Access) -> Scope:
    """Return the scope of a namespace that the caller's signed identity lists with at least this access.

    Raises:
        NamespaceDenied: it does not, or the caller belongs to no tenant.
    """
    reached = caller.namespaces.get(namespace)
    if caller.tenant_id is None or reached is None or not reached.access.includes(access):
        raise NamespaceDenied(
            f"namespace {namespace} does not exist or may not be reached for {access.value}",
            namespace=namespace,
            access=access.value,
        )
    return Scope(
        tenant_id=caller.tenant_id,
        namespace_id=reached.namespace_id,
        namespace=namespace,
        principal=caller.principal,
        request_id=caller.request_id,
        trace_id=caller.trace_id,
    )
