"""The order of roles and of accesses."""

import pytest

from rearview.domain.principal import Access, Role

TENANT_ROLES = [Role.READ, Role.WRITE, Role.ADMIN]


@pytest.mark.parametrize("required", TENANT_ROLES)
@pytest.mark.parametrize("role", TENANT_ROLES)
def test_a_tenants_roles_include_those_below_them(role: Role, required: Role) -> None:
    assert role.includes(required) == (TENANT_ROLES.index(role) >= TENANT_ROLES.index(required))


@pytest.mark.parametrize("role", TENANT_ROLES)
def test_the_operator_stands_beside_them(role: Role) -> None:
    assert not Role.OPERATOR.includes(role)
    assert not role.includes(Role.OPERATOR)
    assert Role.OPERATOR.includes(Role.OPERATOR)


def test_who_may_write_may_read() -> None:
    assert [Access.WRITE.includes(a) for a in (Access.READ, Access.WRITE)] == [True, True]
    assert [Access.READ.includes(a) for a in (Access.READ, Access.WRITE)] == [True, False]
