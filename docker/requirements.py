"""Prints what extras of the product require: `python requirements.py server onnx`, beside pyproject.toml."""

import re
import sys
import tomllib
from pathlib import Path

_SELF = re.compile(r"rearview-memory\[([\w,-]+)\]")


def requirements(project: dict[str, object], extras: list[str]) -> list[str]:
    """Return the requirements of the project and of its extras, those that extras name of their own included."""
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)  # noqa: S101 - a type for the checker
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)  # noqa: S101
    found: list[str] = list(dependencies)
    for extra in extras:
        for requirement in optional[extra]:
            own = _SELF.fullmatch(requirement)
            found += requirements({**project, "dependencies": []}, own[1].split(",")) if own else [requirement]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    content = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
    sys.stdout.write("\n".join(requirements(content["project"], sys.argv[1:])) + "\n")
