"""What a supervisor says of its stack, for `rearview status` and `rearview up`: `run/status.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from rearview.embedded.private_files import read_json, write_private_json


class ProcessState(StrEnum):
    """Where a process or a start-up task stands."""

    WAITING = "waiting"
    STARTING = "starting"
    READY = "ready"
    DONE = "done"
    RESTARTING = "restarting"
    CRASH_LOOP = "crash_loop"
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


class StackState(StrEnum):
    """Where the whole stack stands."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(slots=True)
class ProcessStatus:
    """One line of the status; `restarts` counts since the stack came up."""

    name: str
    state: ProcessState = ProcessState.WAITING
    pid: int | None = None
    restarts: int = 0
    message: str = ""


@dataclass(slots=True)
class StackStatus:
    """The whole status; `supervisor_pid` wrote it, and it is worth something only while that process lives."""

    supervisor_pid: int
    state: StackState = StackState.STARTING
    message: str = ""
    processes: list[ProcessStatus] = field(default_factory=list)

    def write(self, path: Path) -> None:
        write_private_json(path, asdict(self))


def read_status(path: Path) -> StackStatus | None:
    """Return the last written status, None when there is none."""
    content = read_json(path)
    if content is None:
        return None
    try:
        lines = content["processes"]
        if not isinstance(lines, list):
            return None
        return StackStatus(
            supervisor_pid=int(str(content["supervisor_pid"])),
            state=StackState(str(content["state"])),
            message=str(content["message"]),
            processes=[ProcessStatus(**{**line, "state": ProcessState(line["state"])}) for line in lines],
        )
    except (KeyError, TypeError, ValueError):
        return None
