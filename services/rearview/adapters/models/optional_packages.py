"""Importing packages that belong to an extra, only when the model that needs them is opened."""

from importlib import import_module
from typing import Any

from rearview.domain.embedding_errors import ModelNotInstalled


def import_optional(package: str, *, extra: str) -> Any:
    """Return a package that an extra of this distribution installs.

    Raises:
        ModelNotInstalled: the package, or one it needs, is absent.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as absent:
        raise ModelNotInstalled(
            f"{package} cannot be imported, the module {absent.name} is not installed: install rearview-memory[{extra}]"
        ) from absent


def limit_torch_threads(threads: int) -> None:
    """Set how many CPU threads torch uses in this process."""
    import_optional("torch", extra="models").set_num_threads(threads)
