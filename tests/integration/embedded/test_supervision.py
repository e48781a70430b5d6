"""The supervisor with real gRPC services: order, crashes, stubbornness, a second start."""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from rearview.embedded.process_records import ProcessRecords
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.processes import wait_until_ended
from rearview.embedded.stack_status import ProcessState, StackState
from rearview.embedded.supervised_process import SupervisedProcess
from tests.integration.embedded.conftest import MakeStack, stack_folder
from tests.support.processes import running
from tests.support.supervised_stack import TINY_SERVICES, SupervisedStack, processes_of
from tests.support.tiny_stack import QUICK
from tests.support.waiting import wait_until

SERVICES = ("writer", "worker", "retriever", "lifecycle", "gateway")


@pytest.fixture(scope="module")
def running_stack() -> Iterator[SupervisedStack]:
    """One stack with tiny services for the tests that leave it running, whatever they do to its processes."""
    with stack_folder() as place:
        stack = SupervisedStack(place / "data", TINY_SERVICES)
        yield stack.start()
        stack.discard()


def journal(stack: SupervisedStack) -> list[str]:
    path = stack.folder.root.with_name("data.journal")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def wait_until_back(stack: SupervisedStack, name: str, old_pid: int | None) -> None:
    stack.wait_until(
        lambda: stack.process(name).state is ProcessState.READY and stack.process(name).pid not in (None, old_pid),
        f"{name} to come back",
    )


def test_services_start_after_what_they_need_and_drain_before_it_goes(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack().start()
    started = journal(stack)
    assert started[0] == "migrated"
    behind = set(SERVICES) - {"gateway"}
    assert set(started[1:-1]) == {f"start {name}" for name in behind}
    assert started[-1] == "start gateway"
    assert stack.stop() == 0
    stopped = journal(stack)[len(started) :]
    assert stopped[0] == "drained gateway"
    assert set(stopped[1:]) == {f"drained {name}" for name in behind}
    log = stack.folder.log_file("supervisor").read_text(encoding="utf-8")
    moments = [log.index(f" {name} stopped") for name in ("gateway", "writer", "postgres")]
    assert moments == sorted(moments)
    assert stack.status() is not None
    assert processes_of(stack.folder.root) == []


def test_ctrl_c_stops_in_order_too(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack().start()
    stack.signal(signal.SIGINT)
    assert stack.wait_for_end() == 0
    assert journal(stack)[1 + len(SERVICES)] == "drained gateway"


def test_output_goes_to_one_log_each_and_coloured_to_the_console(running_stack: SupervisedStack) -> None:
    stack = running_stack
    for service in SERVICES:
        assert "serves 服务已启动" in stack.folder.log_file(service).read_text(encoding="utf-8")
    lines = [line for line in stack.console.splitlines() if "gateway serves 服务已启动" in line]
    assert len(lines) == 1
    assert lines[0].startswith("\x1b[")
    assert "gateway     |" in lines[0]


def test_indexing_leaves_the_processors_to_the_others(running_stack: SupervisedStack) -> None:
    niceness = {name: psutil.Process(running_stack.process(name).pid).nice() for name in SERVICES}
    assert niceness.pop("worker") == os.nice(0) + 10
    assert set(niceness.values()) == {os.nice(0)}


def test_a_killed_service_is_started_again_and_the_others_stay(running_stack: SupervisedStack) -> None:
    stack = running_stack
    pids = {name: stack.process(name).pid for name in SERVICES}
    os.kill(pids["writer"] or 0, signal.SIGKILL)
    wait_until_back(stack, "writer", pids["writer"])
    assert stack.process("writer").restarts == 1
    assert {name: stack.process(name).pid for name in SERVICES if name != "writer"} == {
        name: pid for name, pid in pids.items() if name != "writer"
    }


def test_a_service_that_keeps_crashing_is_reported_and_tried_on(running_stack: SupervisedStack) -> None:
    stack = running_stack
    for _ in range(3):
        pid = stack.process("retriever").pid
        os.kill(pid or 0, signal.SIGKILL)
        stack.wait_until(
            lambda pid=pid: (  # type: ignore[misc]
                stack.process("retriever").state is ProcessState.CRASH_LOOP
                or (stack.process("retriever").state is ProcessState.READY and stack.process("retriever").pid != pid)
            ),
            "the next attempt",
        )
    log = stack.folder.log_file("supervisor").read_text(encoding="utf-8")
    assert "crashed 3 times in a row, next try in 0.5 s: ended by SIGKILL" in log
    wait_until_back(stack, "retriever", pid)


def test_a_service_that_never_starts_fails_the_start_with_its_log(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack(environment={"TINY_BROKEN": "lifecycle"})
    stack.launch()
    assert stack.wait_for_end() == 1
    status = stack.status()
    assert status is not None
    assert status.state is StackState.FAILED
    assert "lifecycle does not start: exited with code 1" in status.message
    assert "lifecycle is broken on purpose" in status.message
    assert processes_of(stack.folder.root) == []


def test_a_service_that_ignores_the_stop_is_killed_and_the_rest_stops_in_order(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack(environment={"TINY_STUBBORN": "writer"}).start()
    assert stack.stop() == 0
    assert "drained writer" not in journal(stack)
    assert "drained gateway" in journal(stack)
    assert processes_of(stack.folder.root) == []


def test_a_stop_during_the_start_is_obeyed(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack()
    stack.launch()
    stack.wait_until(lambda: (status := stack.status()) is not None and bool(status.processes), "the first sign")
    assert stack.stop() == 0
    assert processes_of(stack.folder.root) == []


def test_a_second_start_is_refused_and_told_who_runs_it(running_stack: SupervisedStack) -> None:
    stack = running_stack
    pids = stack.child_pids()
    second = SupervisedStack(stack.folder.root, TINY_SERVICES)
    second.launch()
    assert second.wait_for_end() == 1
    assert f"already run by process {stack.pid}" in second.console
    assert stack.child_pids() == pids
    assert len(running(pids.values())) == len(pids)
    status = stack.status()
    assert status is not None
    assert status.state is StackState.READY


def test_a_killed_supervisor_takes_its_services_along(make_tiny_stack: MakeStack) -> None:
    first = make_tiny_stack().start()
    pids = first.child_pids()
    assert set(SERVICES) < set(pids)
    first.kill()
    assert wait_until_ended(running(pids.values()), timeout_seconds=60) == []
    assert processes_of(first.folder.root) == []
    assert make_tiny_stack().start().stop() == 0


def test_the_first_tenant_is_made_once_and_its_keys_are_kept(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack().start()
    endpoints = stack.endpoints()
    assert (endpoints.tenant, endpoints.admin_key, endpoints.api_key) == (
        "default",
        "admin-of-default",
        "agent-PRINCIPAL_ROLE_WRITE",
    )
    assert endpoints.operator_key
    stack.stop()
    assert make_tiny_stack().start().endpoints() == endpoints


def test_a_tenant_whose_keys_are_lost_is_explained(make_tiny_stack: MakeStack) -> None:
    stack = make_tiny_stack().start()
    stack.stop()
    path = stack.folder.secrets_file
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["tenant"]
    path.write_text(json.dumps(content), encoding="utf-8")
    second = make_tiny_stack()
    second.launch()
    assert second.wait_for_end() == 1
    assert "tenant 'default' exists, but its keys are not in secrets.json" in second.console
    assert make_tiny_stack("--tenant", "second").start().endpoints().tenant == "second"


@pytest.mark.parametrize("name", ["postgres", "gateway"])
def test_the_status_file_follows_a_restart(running_stack: SupervisedStack, name: str) -> None:
    stack = running_stack
    pid = stack.process(name).pid
    os.kill(pid or 0, signal.SIGKILL)
    wait_until_back(stack, name, pid)
    assert stack.child_pids()[name] == stack.process(name).pid


async def test_neither_a_console_nor_a_log_that_cannot_be_written_keeps_a_process_from_its_restart(
    place: Path,
) -> None:
    def full(name: str, line: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    chatty = ("/bin/sh", "-c", "while :; do echo 满了 full; sleep 0.01; done")
    spec = ProcessSpec("chatty", chatty, {"PATH": "/usr/bin:/bin"}, _at_once)
    await _comes_back_twice(_supervised(spec, place / "missing", place, full))


async def test_whatever_goes_wrong_around_a_process_it_is_started_again(place: Path) -> None:
    def broken() -> None:
        raise ValueError("nobody thought of this")

    spec = ProcessSpec("quiet", ("/bin/sleep", "600"), {"PATH": "/usr/bin:/bin"}, _at_once, after_end=broken)
    process = _supervised(spec, place, place, None)
    await _comes_back_twice(process)


async def _at_once() -> None:
    return


def _supervised(
    spec: ProcessSpec, logs: Path, place: Path, on_line: Callable[[str, str], None] | None
) -> SupervisedProcess:
    return SupervisedProcess(
        spec,
        log_file=logs / f"{spec.name}.log",
        records=ProcessRecords(place),
        policy=QUICK,
        on_change=lambda _: None,
        on_line=on_line,
    )


async def _comes_back_twice(process: SupervisedProcess) -> None:
    await process.start()
    try:
        for restarts in (1, 2):
            pid = process.status.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            await wait_until(
                lambda pid=pid: process.status.pid not in (None, pid),  # type: ignore[misc]
                "the process to run again",
            )
            assert process.status.restarts == restarts
    finally:
        await process.stop()
