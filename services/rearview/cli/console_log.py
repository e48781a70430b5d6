"""What a stack in the foreground prints: the lines of its processes behind coloured names, and what happens to them."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from rearview.embedded.stack_status import ProcessState, ProcessStatus, StackStatus

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
NAME_WIDTH = 11
STATE_STYLES = {
    ProcessState.READY: "green",
    ProcessState.DONE: "green",
    ProcessState.RESTARTING: "yellow",
    ProcessState.CRASH_LOOP: "bold red",
    ProcessState.FAILED: "bold red",
}


class ConsoleLog:
    """Prints to a console; each name keeps its colour."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._colours: dict[str, str] = {}

    def line(self, name: str, line: str) -> None:
        """Print a line of a process's output."""
        self._print(name, Text(line))

    def event(self, status: StackStatus, process: ProcessStatus | None) -> None:
        """Print a change of state."""
        if process is None:
            self._print("rearview", Text(status.state.upper(), "bold"), status.message)
        else:
            self._print(process.name, Text(process.state, STATE_STYLES.get(process.state, "dim")), process.message)

    def _print(self, name: str, text: Text, message: str = "") -> None:
        colour = self._colours.setdefault(name, COLOURS[len(self._colours) % len(COLOURS)])
        prefix = Text(f"{name:<{NAME_WIDTH}} | ", colour)
        self._console.print(prefix + text + Text(f"  {message}" if message else "", "dim"), soft_wrap=True)
