"""The outside world: databases, object storage and models, each behind a port."""
