"""The data folder: which one, how private, whose."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rearview.embedded.errors import AlreadyRunning, StackError
from rearview.embedded.folder_lock import FolderLock, holder
from rearview.embedded.paths import DataFolder


def test_the_option_wins_over_the_environment_over_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"REARVIEW_HOME": str(tmp_path / "home")}
    assert DataFolder.choose(Path("here"), environment).root == tmp_path / "here"
    assert DataFolder.choose(None, environment).root == tmp_path / "home"
    assert DataFolder.choose(None, {}).root == tmp_path / ".rearview"


def test_models_may_be_shared_by_several_stacks(tmp_path: Path) -> None:
    own = DataFolder.choose(tmp_path, {})
    assert own.models == tmp_path / "models"
    shared = DataFolder.choose(tmp_path, {"REARVIEW_MODEL_DIR": str(tmp_path / "shared")})
    assert shared.models == tmp_path / "shared"


def test_folders_are_closed_to_other_accounts(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "数据 folder")
    folder.create()
    for path in (folder.postgres, folder.valkey, folder.s3, folder.logs, folder.process_records):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert not stat.S_IMODE(folder.root.stat().st_mode) & 0o066


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StackError, match="--data-dir"):
        DataFolder(tmp_path / "file" / "data").create()


def test_a_second_holder_is_refused_and_told_the_pid_of_the_first(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    with FolderLock(folder):
        found = holder(folder.lock_file)
        assert found is not None
        assert found.pid == os.getpid()
        with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"), FolderLock(folder):
            pass
    assert holder(folder.lock_file) is None
    with FolderLock(folder):
        pass


def test_the_lock_ends_with_its_process_and_an_old_pid_does_not_matter(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    code = (
        "import os, pathlib\n"
        "from rearview.embedded.folder_lock import FolderLock\n"
        "from rearview.embedded.paths import DataFolder\n"
        f"FolderLock(DataFolder(pathlib.Path({str(tmp_path)!r}))).__enter__()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    services = Path(__file__).resolve().parents[3] / "services"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(services)}, check=False)
    assert folder.lock_file.read_text().strip().isdigit()
    assert holder(folder.lock_file) is None
    with FolderLock(folder):
        pass
