"""A backup's files: whole or not there, and every damaged part named."""

from pathlib import Path

import pytest

from rearview.embedded.backup.errors import BackupError, DiskFull, NotABackup, PartDamaged, TargetExists, WrongVersion
from rearview.embedded.backup.files import BackupFolder, BackupSource
from rearview.embedded.backup.manifest import DATABASE, NAME, OBJECTS, Manifest, Part

CONTENT = {DATABASE: b"\x00dump" * 1000, f"{OBJECTS}a/b": "苔庭 moss garden".encode()}


def manifest_of(*parts: Part) -> Manifest:
    return Manifest("id", "2026-03-01T12:00:00+00:00", "18", ("0001.pre.a",), (), (), {}, parts)


def written(target: Path) -> Path:
    with BackupFolder(target) as folder:
        for name, content in CONTENT.items():
            with folder.part(name) as write:
                write(content[:3])
                write(content[3:])
        folder.finish(
            Manifest("id", "2026-03-01T12:00:00+00:00", "18", ("0001.pre.a",), (), (), {}, tuple(folder.parts))
        )
    return target


@pytest.mark.parametrize("name", ["backup", "backup.tar"])
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    with BackupSource(written(tmp_path / name)) as source:
        source.verify()
        assert {part.name: source.read(part.name) for part in source.manifest.parts} == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["backup", "backup.tar"])
@pytest.mark.parametrize("part", [DATABASE, f"{OBJECTS}a/b"])
def test_a_damaged_part_is_named(tmp_path: Path, name: str, part: str) -> None:
    target = written(tmp_path / name)
    path = target if target.is_file() else target / part
    content = path.read_bytes()
    at = content.index(CONTENT[part]) + 5
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with BackupSource(target) as source, pytest.raises(PartDamaged, match="is damaged: its checksum") as caught:
        source.verify()
    assert caught.value.part == part


def test_a_missing_and_a_short_part_are_named(tmp_path: Path) -> None:
    target = written(tmp_path / "backup")
    (target / DATABASE).write_bytes(b"short")
    with BackupSource(target) as source, pytest.raises(PartDamaged, match=r"database\.dump is damaged: it has 5 bytes"):
        source.verify()
    (target / DATABASE).unlink()
    with BackupSource(target) as source, pytest.raises(PartDamaged, match=r"database\.dump is missing"):
        source.verify()


def test_manifests_that_are_not_what_was_written_are_refused(tmp_path: Path) -> None:
    manifest = written(tmp_path / "backup") / NAME
    text = manifest.read_text()
    for changed, error, words in (
        (text.replace('"format_version": 1', '"format_version": 2'), WrongVersion, "format version 2"),
        (text.replace("0001.pre.a", "0001.pre.b"), PartDamaged, "manifest.json is damaged"),
        (text[:40], PartDamaged, "not JSON"),
        ("{}", NotABackup, "not of a backup"),
    ):
        manifest.write_text(changed)
        with pytest.raises(error, match=words):
            BackupSource(tmp_path / "backup")
    manifest.unlink()
    with pytest.raises(NotABackup, match="there is no backup in"):
        BackupSource(tmp_path / "backup")


def test_a_part_outside_of_the_backup_is_refused() -> None:
    manifest = manifest_of(Part("objects/../../etc/passwd", 0, ""))
    with pytest.raises(PartDamaged, match="no backup has"):
        Manifest.from_json(manifest.to_json())


def test_nothing_is_overwritten_and_a_failed_backup_leaves_nothing(tmp_path: Path) -> None:
    target = written(tmp_path / "backup")
    with pytest.raises(TargetExists), BackupFolder(target):
        pass
    with pytest.raises(BackupError, match="File exists"), BackupFolder(tmp_path / "other") as folder:
        write_twice(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["backup"]
    # A folder of that name that no backup has begun is somebody else's.
    (tmp_path / "third.part").mkdir()
    with pytest.raises(TargetExists), BackupFolder(tmp_path / "third"):
        pass


def write_twice(folder: BackupFolder) -> None:
    for _ in range(2):
        with folder.part(DATABASE) as write:
            write(b"half")


def test_a_full_disk_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with (
        pytest.raises(DiskFull, match="no space left"),
        BackupFolder(tmp_path / "backup") as folder,
        folder.part(DATABASE),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"dump")
    assert list(tmp_path.iterdir()) == []
