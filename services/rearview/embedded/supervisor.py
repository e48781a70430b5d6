"""Starts a stack's processes in order, keeps them alive, and stops them in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from rearview.embedded.child_process import OnLine
from rearview.embedded.errors import StackError, StartFailed
from rearview.embedded.process_records import ProcessRecords
from rearview.embedded.process_spec import ProcessSpec, Spec, TaskSpec, start_order
from rearview.embedded.restart_policy import RestartPolicy
from rearview.embedded.stack_status import ProcessState, ProcessStatus
from rearview.embedded.supervised_process import SupervisedProcess

OnChange = Callable[[ProcessStatus], None]


class Supervisor:
    """Runs one set of specs, once: `start`, then `stop` (also after a `start` that failed).

    Everything starts as soon as what it depends on is ready, so independent servers start side by side. A process
    stops only after all that depend on it, directly or not, have stopped.
    """

    def __init__(
        self,
        specs: Sequence[Spec],
        *,
        log_folder: Path,
        records: ProcessRecords,
        on_change: OnChange,
        on_line: OnLine | None = None,
        policy: RestartPolicy | None = None,
    ) -> None:
        self._levels = start_order(specs)
        self._on_change = on_change
        self._ready = {spec.name: asyncio.Event() for spec in specs}
        self._processes = {
            spec.name: SupervisedProcess(
                spec,
                log_file=log_folder / f"{spec.name}.log",
                records=records,
                policy=policy or RestartPolicy(),
                on_change=on_change,
                on_line=on_line,
            )
            for spec in specs
            if isinstance(spec, ProcessSpec)
        }
        self._tasks = {spec.name: ProcessStatus(spec.name) for spec in specs if isinstance(spec, TaskSpec)}

    @property
    def statuses(self) -> list[ProcessStatus]:
        """The processes and tasks in the order of their start; the objects change as things happen."""
        return [
            self._processes[spec.name].status if spec.name in self._processes else self._tasks[spec.name]
            for level in self._levels
            for spec in level
        ]

    async def start(self) -> None:
        """Start everything; return when all processes are ready and all tasks done.

        Raises:
            StartFailed: one of them failed for good; the others may run, call `stop`.
        """
        failure: StackError | None = None
        try:
            async with asyncio.TaskGroup() as group:
                for level in self._levels:
                    for spec in level:
                        group.create_task(self._start_one(spec), name=f"start of {spec.name}")
        except* StackError as failures:
            failure = _first_leaf(failures)  # raised in here, it would be wrapped in a group again
        if failure is not None:
            raise failure

    async def stop(self) -> None:
        """Stop everything, dependants first."""
        for level in reversed(self._levels):
            stopping = [self._processes[spec.name].stop() for spec in level if spec.name in self._processes]
            await asyncio.gather(*stopping)

    async def _start_one(self, spec: Spec) -> None:
        for name in spec.depends_on:
            await self._ready[name].wait()
        if isinstance(spec, ProcessSpec):
            await self._processes[spec.name].start()
        else:
            await self._run_task(spec)
        self._ready[spec.name].set()

    async def _run_task(self, task: TaskSpec) -> None:
        status = self._tasks[task.name]
        status.state, status.message = ProcessState.STARTING, ""
        self._on_change(status)
        try:
            await asyncio.to_thread(task.run)
        except Exception as error:  # whatever a task raises, the stack must come down in order
            status.state, status.message = ProcessState.FAILED, str(error) or type(error).__name__
            self._on_change(status)
            raise StartFailed(f"{task.name} failed: {status.message}") from error
        status.state = ProcessState.DONE
        self._on_change(status)


def _first_leaf(failures: BaseExceptionGroup[StackError]) -> StackError:
    for failure in failures.exceptions:
        return _first_leaf(failure) if isinstance(failure, BaseExceptionGroup) else failure
    return StackError(str(failures))
