"""Ports for servers that have to be told one."""

import socket


def free_port() -> int:
    """Return a port of the loopback on which nobody listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
