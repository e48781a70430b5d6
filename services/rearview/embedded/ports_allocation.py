"""Loopback ports for the servers of a stack.

A port is remembered and used again while it is free, so that addresses survive a restart. Ports come from below the
kernel's ephemeral range (32768 and up on Linux): an outgoing connection never takes one by chance. Between the moment
a port is found free and the moment a server listens on it, a second stack could find it free as well; therefore each
port is also reserved for the life of the supervisor, as a name in Linux's abstract socket namespace: seen by every
account on the machine, scoped to the network namespace like the ports themselves, and gone with its process.
"""

from __future__ import annotations

import errno
import secrets
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from rearview.embedded.errors import NoFreePort
from rearview.embedded.private_files import read_json, write_private_json

LOOPBACK = "127.0.0.1"
FIRST_PORT = 12_000
LAST_PORT = 22_000
SECOND_PORT_DISTANCE = 10_000


@dataclass(frozen=True, slots=True)
class PortNeed:
    """A name that needs a port; `with_second` also needs port + 10,000 (SeaweedFS serves gRPC there)."""

    name: str
    with_second: bool = False
    preferred: int | None = None

    def all_ports(self, port: int) -> tuple[int, ...]:
        return (port, port + SECOND_PORT_DISTANCE) if self.with_second else (port,)


class PortLease:
    """Ports by name, reserved until `release` (or the end of the process)."""

    def __init__(self) -> None:
        self._ports: dict[str, int] = {}
        self._reservations: list[socket.socket] = []

    def __getitem__(self, name: str) -> int:
        return self._ports[name]

    def as_mapping(self) -> Mapping[str, int]:
        return dict(self._ports)

    def try_take(self, need: PortNeed, port: int) -> bool:
        """Take `port` for `need`; False when it, or its second, is in use or reserved."""
        taken: list[socket.socket] = []
        for number in need.all_ports(port):
            reservation = _reserve(number)
            if reservation is None or not is_free(number):
                for held in (*taken, reservation):
                    if held is not None:
                        held.close()
                return False
            taken.append(reservation)
        self._reservations += taken
        self._ports[need.name] = port
        return True

    def release(self) -> None:
        while self._reservations:
            self._reservations.pop().close()

    def __enter__(self) -> PortLease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def allocate(needs: Sequence[PortNeed], memory_file: Path) -> PortLease:
    """Return a lease with a free loopback port for each need, and remember them in `memory_file`.

    Remembered ports come first, then a need's preferred port, then random ones.

    Raises:
        NoFreePort: no port of the range is free.
    """
    remembered = read_json(memory_file) or {}
    lease = PortLease()
    try:
        for need in needs:
            if not any(lease.try_take(need, port) for port in _candidates(need, remembered.get(need.name))):
                raise NoFreePort(
                    f"no free port on {LOOPBACK} from {FIRST_PORT} to {LAST_PORT} for {need.name}; "
                    "stop what listens there"
                )
    except BaseException:
        lease.release()
        raise
    write_private_json(memory_file, dict(lease.as_mapping()))
    return lease


def is_free(port: int) -> bool:
    """Tell whether a server could listen on the loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: without it a port in TIME_WAIT after a restart would look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
        return True


def _candidates(need: PortNeed, remembered: object) -> Iterator[int]:
    if isinstance(remembered, int) and 1024 <= remembered <= 65_535 - SECOND_PORT_DISTANCE:
        yield remembered
    if need.preferred is not None:
        yield need.preferred
    span = LAST_PORT - FIRST_PORT
    start = secrets.randbelow(span)
    for step in range(span):
        yield FIRST_PORT + (start + step) % span


def _reserve(port: int) -> socket.socket | None:
    """Return a held reservation, None when another stack holds it; elsewhere than on Linux a mere placeholder."""
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if sys.platform != "linux":
        return holder
    try:
        holder.bind(f"\0rearview-port-{port}")
    except OSError:
        holder.close()
        return None
    return holder
