"""Ports: the Protocols that use cases depend on and adapters implement."""
