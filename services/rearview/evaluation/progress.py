"""Progress of long measurements: what is done, how fast, how long it will still take. On stderr, so that stdout
stays for results."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class RateColumn(ProgressColumn):
    """Units a second."""

    def render(self, task: Task) -> Text:
        """Return the rate, or nothing while there is none."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


class Steps:
    """Named steps with a bar each."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def start(self, name: str, total: int) -> Callable[[int], None]:
        """Show a step of `total` units; the returned function adds finished units to it."""
        task = self._progress.add_task(name, total=total)
        return lambda done: self._progress.update(task, advance=done)

    def track(self, name: str, total: int) -> Callable[[int], None]:
        """Show a step of `total` units; the returned function sets how many are finished."""
        task = self._progress.add_task(name, total=total)
        return lambda done: self._progress.update(task, completed=done)


@contextmanager
def shown_steps(console: Console) -> Iterator[Steps]:
    """Yield steps that are shown while the block runs."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Steps(progress)
