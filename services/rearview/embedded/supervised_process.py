"""One process under supervision: started, watched, started again after a crash, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from pathlib import Path

from rearview.embedded.child_process import ChildProcess, OnLine
from rearview.embedded.errors import StackError, StartFailed
from rearview.embedded.log_rotation import tail
from rearview.embedded.process_records import ProcessRecords
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.readiness import wait_until_ready
from rearview.embedded.restart_policy import RestartPolicy
from rearview.embedded.stack_status import ProcessState, ProcessStatus

OnChange = Callable[[ProcessStatus], None]


class SupervisedProcess:
    """Keeps one process alive from `start` to `stop`; tells every change of state through `on_change`."""

    def __init__(
        self,
        spec: ProcessSpec,
        *,
        log_file: Path,
        records: ProcessRecords,
        policy: RestartPolicy,
        on_change: OnChange,
        on_line: OnLine | None,
    ) -> None:
        self.spec = spec
        self.status = ProcessStatus(spec.name)
        self._log_file = log_file
        self._records = records
        self._policy = policy
        self._on_change = on_change
        self._on_line = on_line
        self._stop_requested = asyncio.Event()
        self._first_ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process and wait until it is ready for the first time.

        Raises:
            StartFailed: it crashed or was not ready in time, `start_attempts` times.
        """
        self._keeper = asyncio.create_task(self._keep(), name=f"keeper of {self.spec.name}")
        # A cancelled start must not cancel the future, and a keeper that died must not leave the start waiting.
        await asyncio.wait({self._keeper, self._first_ready}, return_when=asyncio.FIRST_COMPLETED)
        if self._first_ready.done():
            self._first_ready.result()
        else:
            self._keeper.result()

    async def stop(self) -> None:
        """Stop the process for good; harmless when it never started."""
        self._stop_requested.set()
        if self._keeper is not None:
            await self._keeper
        self._first_ready.cancel()

    async def _keep(self) -> None:
        crashes = 0
        while not self._stop_requested.is_set():
            try:
                reason, was_stable = await self._run_once()
            except Exception as error:  # noqa: BLE001 - whatever went wrong around it, the process must come back
                reason, was_stable = f"{type(error).__name__}: {error}", False
            if self._stop_requested.is_set():
                break
            crashes = 1 if was_stable else crashes + 1
            if not self._first_ready.done() and crashes >= self._policy.start_attempts:
                self._change(ProcessState.FAILED, reason)
                self._first_ready.set_exception(
                    StartFailed(f"{self.spec.name} does not start: {self._with_log(reason)}")
                )
                return
            await self._pause(crashes, reason)
        self._change(ProcessState.STOPPED)

    async def _run_once(self) -> tuple[str, bool]:
        """Run the process to its end; return why it ended and whether it had been ready for a good while."""
        self._change(ProcessState.STARTING)
        try:
            if self.spec.before_start is not None:
                await asyncio.to_thread(self.spec.before_start)
            child = await ChildProcess.start(self.spec, self._log_file, self._on_line)
        except (StackError, OSError) as error:
            return str(error), False
        with contextlib.suppress(OSError):  # a full disk must not leave the child unwatched
            self._records.add(self.spec.name, child.pid, self.spec.argv, self.spec.stop_signal)
        self.status.pid = child.pid
        self._change(ProcessState.STARTING)
        exited = asyncio.create_task(child.wait())
        stopping = asyncio.create_task(self._stop_requested.wait())
        ready = asyncio.create_task(wait_until_ready(self.spec.ready, self.spec.ready_timeout_seconds))
        ready_at: float | None = None
        loop = asyncio.get_running_loop()
        reason = ""
        try:
            await asyncio.wait({exited, stopping, ready}, return_when=asyncio.FIRST_COMPLETED)
            if ready.done() and not exited.done() and not stopping.done():
                failure = ready.exception()
                if failure is not None:
                    reason = str(failure)
                else:
                    ready_at = loop.time()
                    self._change(ProcessState.READY)
                    if not self._first_ready.done():
                        self._first_ready.set_result(None)
                    await asyncio.wait({exited, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if exited.done():
                reason = _exit_text(exited.result())
            else:
                self._change(ProcessState.STOPPING, reason)
                if not await child.stop():
                    reason = f"{reason or 'stop requested'}; killed after {self.spec.stop_timeout_seconds:g} s"
        finally:
            for task in (ready, stopping):
                task.cancel()
            await asyncio.wait({ready, exited})
            with contextlib.suppress(OSError):
                self._records.remove(self.spec.name)
            self.status.pid = None
            if self.spec.after_end is not None:
                self.spec.after_end()
        return reason, ready_at is not None and loop.time() - ready_at >= self._policy.stable_after_seconds

    async def _pause(self, crashes: int, reason: str) -> None:
        delay_seconds = self._policy.delay_seconds(crashes)
        self.status.restarts += 1
        if self._policy.is_crash_loop(crashes):
            text = f"crashed {crashes} times in a row, next try in {delay_seconds:g} s: {self._with_log(reason)}"
            self._change(ProcessState.CRASH_LOOP, text)
        else:
            self._change(ProcessState.RESTARTING, f"{reason}; again in {delay_seconds:g} s")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop_requested.wait(), delay_seconds)

    def _change(self, state: ProcessState, message: str = "") -> None:
        self.status.state = state
        self.status.message = message
        self._on_change(self.status)

    def _with_log(self, reason: str) -> str:
        end = tail(self._log_file)
        return f"{reason}\nThe end of {self._log_file}:\n{end}" if end else reason


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"
