"""Use cases about tenants: the operator's."""
