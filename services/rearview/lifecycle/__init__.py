"""The lifecycle service: purges, rounds over all tenants, and what administrators ask about them."""
