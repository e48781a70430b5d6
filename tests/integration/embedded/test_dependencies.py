"""PostgreSQL, Valkey and S3 as children: data survives restarts and crashes, leftovers do not stand in the way."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
from functools import partial
from pathlib import Path

import psutil
import psycopg
import pytest

from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import LOOPBACK
from rearview.embedded.stack_status import ProcessState
from tests.support.marks import TEXT, leave_marks, read_marks
from tests.support.processes import running
from tests.support.supervised_stack import SupervisedStack, processes_of

SERVERS = ("postgres", "valkey", "s3")


def test_a_restart_keeps_data_addresses_and_secrets(dependencies: SupervisedStack) -> None:
    before = dependencies.start().endpoints()
    leave_marks(before)
    assert dependencies.stop() == 0
    assert processes_of(dependencies.folder.root) == []
    assert dependencies.start().endpoints() == before
    assert read_marks(before) == [TEXT] * 3


def test_a_killed_supervisor_leaves_no_orphan_and_does_not_block_the_next(dependencies: SupervisedStack) -> None:
    leave_marks(dependencies.start().endpoints())
    # What was acknowledged a moment ago may still be on its way to Valkey's file: it is flushed each second.
    dependencies.wait_until(lambda: valkey_is_flushed(dependencies), "valkey to flush")
    pids = dependencies.child_pids()
    assert set(pids) == set(SERVERS)
    dependencies.kill()
    dependencies.start()
    assert running(pids.values()) == []
    assert read_marks(dependencies.endpoints()) == [TEXT] * 3
    assert dependencies.stop() == 0
    assert processes_of(dependencies.folder.root) == []


def test_a_killed_server_comes_back_with_its_data(dependencies: SupervisedStack) -> None:
    leave_marks(dependencies.start().endpoints())
    dependencies.wait_until(lambda: valkey_is_flushed(dependencies), "valkey to flush")
    for server in SERVERS:
        pid = dependencies.process(server).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        dependencies.wait_until(partial(_is_back, dependencies, server, pid), f"{server} to come back")
        assert dependencies.process(server).restarts >= 1
        assert read_marks(dependencies.endpoints()) == [TEXT] * 3


def test_ports_taken_meanwhile_are_replaced_and_the_data_is_still_there(dependencies: SupervisedStack) -> None:
    before = dependencies.start().endpoints()
    leave_marks(before)
    dependencies.stop()
    taken = [int(url.rpartition(":")[2].partition("/")[0]) for url in (before.postgres_owner_url, before.redis_url)]
    taken.append(int(before.s3_endpoint.rpartition(":")[2]))
    # create_server sets SO_REUSEADDR: connections of the stopped stack may linger in TIME_WAIT.
    squatters = [socket.create_server((LOOPBACK, port)) for port in taken]
    after = dependencies.start().endpoints()
    assert not {after.postgres_owner_url, after.redis_url, after.s3_endpoint} & {
        before.postgres_owner_url,
        before.redis_url,
        before.s3_endpoint,
    }
    assert read_marks(after) == [TEXT] * 3
    for squatter in squatters:
        squatter.close()


def test_a_pid_file_that_names_a_foreign_process_does_not_block_postgres(dependencies: SupervisedStack) -> None:
    dependencies.start()
    dependencies.stop()
    pid_file = dependencies.folder.postgres_data / "postmaster.pid"
    owner = dependencies.folder.postgres_data.stat()
    # A process of the same account: those of others PostgreSQL itself does not take for a server.
    account = owner.st_uid if os.geteuid() == 0 else None
    with subprocess.Popen(["sleep", "600"], user=account) as foreign:
        try:
            pid_file.write_text(f"{foreign.pid}\n/somewhere\n1\n5432\n\n127.0.0.1\n  1  1\nready\n", encoding="ascii")
            os.chown(pid_file, owner.st_uid, owner.st_gid)
            dependencies.start()
            assert foreign.poll() is None
        finally:
            foreign.kill()


def test_an_interrupted_creation_of_the_cluster_is_begun_anew(dependencies: SupervisedStack) -> None:
    dependencies.folder.create()
    unfinished = dependencies.folder.postgres / "data.new"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n", encoding="ascii")
    dependencies.start()
    assert not unfinished.exists()


def test_a_database_of_another_version_is_refused_by_name(dependencies: SupervisedStack) -> None:
    dependencies.folder.create()
    dependencies.folder.postgres_data.mkdir()
    (dependencies.folder.postgres_data / "PG_VERSION").write_text("15\n", encoding="ascii")
    dependencies.launch()
    assert dependencies.wait_for_end() == 1
    assert "made by PostgreSQL 15" in dependencies.console
    assert processes_of(dependencies.folder.root) == []


def test_two_stacks_run_side_by_side(dependencies: SupervisedStack, place: Path) -> None:
    other = SupervisedStack(place / "另一个 stack")
    try:
        dependencies.launch()
        other.start()
        dependencies.wait_until(lambda: dependencies.folder.endpoints_file.exists(), "the first stack")
        leave_marks(dependencies.endpoints())
        leave_marks(other.endpoints())
        assert read_marks(other.endpoints()) == [TEXT] * 3
    finally:
        other.discard()


def test_nothing_listens_beyond_the_loopback_and_secrets_are_private(real_stack: SupervisedStack) -> None:
    folder = real_stack.folder
    listening = [
        connection.laddr.ip
        for process in processes_of(folder.root)
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 3
    assert set(listening) == {LOOPBACK}
    for path in (folder.secrets_file, folder.endpoints_file, folder.valkey / "valkey.conf"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_secret_appears_in_logs_or_command_lines(real_stack: SupervisedStack) -> None:
    endpoints = real_stack.endpoints()
    secrets = [endpoints.s3_secret_key] + [
        url.split(":")[2].partition("@")[0]
        for url in (endpoints.postgres_superuser_url, endpoints.postgres_service_url, endpoints.redis_url)
    ]
    shown = real_stack.console + "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in real_stack.folder.logs.iterdir()
    )
    shown += "".join(" ".join(process.cmdline()) for process in processes_of(real_stack.folder.root))
    assert not [secret for secret in secrets if secret in shown]


def test_the_database_sorts_by_code_point_and_asks_for_a_password_on_the_socket_too(
    real_stack: SupervisedStack,
) -> None:
    endpoints = real_stack.endpoints()
    with psycopg.connect(endpoints.postgres_service_url) as connection:
        row = connection.execute(
            "SELECT pg_encoding_to_char(encoding), datlocprovider::text, datlocale FROM pg_database"
            " WHERE datname = current_database()"
        ).fetchone()
    assert row == ("UTF8", "b", "C.UTF-8")
    port = endpoints.postgres_service_url.rpartition(":")[2].partition("/")[0]
    sockets = DataFolder(real_stack.folder.root).postgres_sockets
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(f"host={sockets} port={port} user=rearview_service dbname=rearview")


def _is_back(stack: SupervisedStack, server: str, old_pid: int) -> bool:
    process = stack.process(server)
    return process.state is ProcessState.READY and process.pid not in (None, old_pid)


def valkey_is_flushed(stack: SupervisedStack) -> bool:
    files = stack.folder.valkey.glob("appendonlydir/*.incr.aof")
    return any(TEXT.encode() in file.read_bytes() for file in files)
