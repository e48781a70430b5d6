"""The files of a backup: a folder, or with a name that ends in `.tar` one archive of the same."""

import errno
import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Self

from rearview.embedded.backup.errors import BackupError, DiskFull, NotABackup, PartDamaged, TargetExists
from rearview.embedded.backup.manifest import NAME, Manifest, Part

ARCHIVE = ".tar"
_UNFINISHED = ".unfinished"
_CHUNK = 1024 * 1024
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class BackupFolder:
    """A backup that is being written: below `<target>.part`, which becomes the target when it is whole."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self.folder = target.with_name(f"{target.name}.part")
        self._parts: dict[str, Part] = {}

    def __enter__(self) -> Self:
        """Make the folder; what a killed backup left of itself is removed first.

        Raises:
            TargetExists: something of the name is there already.
            BackupError: the folder cannot be made.
        """
        if self._target.exists():
            raise TargetExists(self._target)
        if self.folder.exists():
            if not (self.folder / _UNFINISHED).is_file():
                raise TargetExists(self.folder)
            shutil.rmtree(self.folder)
        with _space(self._target):
            self.folder.mkdir(mode=0o700, parents=True)
            (self.folder / _UNFINISHED).touch(mode=0o600)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def parts(self) -> list[Part]:
        """What was written, by name."""
        return [self._parts[name] for name in sorted(self._parts)]

    @contextmanager
    def part(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """Yield what appends to a new part.

        Raises:
            DiskFull: there is no space left.
            BackupError: it cannot be written.
        """
        path = self.folder / name
        digest, size = hashlib.sha256(), 0
        with _space(self._target):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _private(path) as file:

                def write(data: bytes) -> None:
                    nonlocal size
                    file.write(data)
                    digest.update(data)
                    size += len(data)

                yield write
                _sync(file)
        self._parts[name] = Part(name, size, digest.hexdigest())

    def drop(self, name: str) -> None:
        """Remove a part."""
        (self.folder / name).unlink()
        del self._parts[name]

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest, and give the backup its name.

        Raises:
            DiskFull: there is no space left.
            TargetExists: something of the name has come to be there.
        """
        with _space(self._target):
            with _private(self.folder / NAME) as file:
                file.write(manifest.to_json().encode())
                _sync(file)
            (self.folder / _UNFINISHED).unlink()
            if self._target.exists():
                raise TargetExists(self._target)
            if self._target.suffix == ARCHIVE:
                self._pack(manifest)
            else:
                self.folder.rename(self._target)
            _sync_folder(self._target.parent)

    def _pack(self, manifest: Manifest) -> None:
        packed = self.folder / f"packed{ARCHIVE}"
        with _private(packed) as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for name in (NAME, *(part.name for part in manifest.parts)):
                    archive.add(self.folder / name, arcname=name)
            _sync(file)
        packed.rename(self._target)


class BackupSource:
    """A backup that is read."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            NotABackup: there is none of this name.
            WrongVersion, PartDamaged: see `Manifest.from_json`.
        """
        self.path = path
        self._archive: tarfile.TarFile | None = None
        try:
            if path.is_file():
                self._archive = tarfile.open(path, "r:")  # noqa: SIM115 -- closed by __exit__
            with closing(self._open(NAME)) as file:
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            raise NotABackup(f"there is no backup in {path}: {NAME} is not there") from None
        except (tarfile.TarError, OSError) as error:
            raise NotABackup(f"{path} cannot be read as a backup: {error}") from None
        self.manifest = Manifest.from_json(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a part's content, checked on the way.

        Raises:
            PartDamaged: it is missing or not what was written.
        """
        part = next(part for part in self.manifest.parts if part.name == name)
        digest, size = hashlib.sha256(), 0
        try:
            with closing(self._open(name)) as file:
                while data := file.read(_CHUNK):
                    digest.update(data)
                    size += len(data)
                    yield data
        except FileNotFoundError:
            raise PartDamaged(name, "is missing") from None
        except (tarfile.TarError, OSError) as error:
            raise PartDamaged(name, f"cannot be read ({error})") from None
        if size != part.bytes:
            raise PartDamaged(name, f"is damaged: it has {size} bytes instead of {part.bytes}")
        if digest.hexdigest() != part.sha256:
            raise PartDamaged(name, "is damaged: its checksum is another")

    def read(self, name: str) -> bytes:
        """Return a part's content. Raises as `chunks`."""
        return b"".join(self.chunks(name))

    def verify(self, on_bytes: Callable[[int], None] = lambda _count: None) -> None:
        """Read every part and compare it with the manifest. Raises as `chunks`."""
        for part in self.manifest.parts:
            for data in self.chunks(part.name):
                on_bytes(len(data))

    def _open(self, name: str) -> IO[bytes]:
        if self._archive is None:
            return (self.path / name).open("rb")
        try:
            file = self._archive.extractfile(name)
        except KeyError:
            file = None
        if file is None:
            raise FileNotFoundError(name)
        return file


@contextmanager
def _space(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise DiskFull(target) from error
        raise BackupError(f"{target} cannot be written: {error.strerror}: {error.filename or ''}") from error


@contextmanager
def _private(path: Path) -> Iterator[IO[bytes]]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w+b") as file:
        yield file


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
