"""The capacity model: what millions of tenants would take, computed from what was measured. A model, not a test."""
