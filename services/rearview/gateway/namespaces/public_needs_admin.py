"""What everybody in a tenant may read is for its admins to decide."""

from rearview.domain.errors import RoleInsufficient
from rearview.domain.principal import Caller, Role
from rearview.domain.tenancy import Visibility


def check_may_set_visibility(caller: Caller, visibility: Visibility | None, method: str) -> None:
    """Check that the caller may give a namespace this visibility (None: leave it). Raises: RoleInsufficient."""
    if visibility is Visibility.PUBLIC and not caller.role.includes(Role.ADMIN):
        raise RoleInsufficient(
            "a public namespace takes the role admin",
            method=method,
            required_role=Role.ADMIN.value,
            role=caller.role.value,
        )
