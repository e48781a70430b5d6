"""Use cases about API keys: those of a tenant's admins."""
