"""Use cases about namespaces, grants and subscriptions."""
