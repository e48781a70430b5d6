"""Reading of the word lists and tables that ship with this package."""

from importlib.resources import files
from typing import Any

import yaml


def load_yaml(name: str) -> Any:
    """Return the content of `data/<name>`."""
    return yaml.safe_load(files("rearview.language").joinpath("data", name).read_text(encoding="utf-8"))
