"""Reading of scenario files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import yaml
from pydantic import ValidationError

from rearview.evaluation.scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario and what its file is called, without its ending."""

    name: str
    scenario: Scenario


def read_scenarios(folder: Path | None) -> list[ScenarioFile]:
    """Return the scenarios of a folder and its subfolders, or those that are shipped, by name.

    Raises:
        ValueError: there are none, or a file is no scenario; says which, where and why for all of them.
    """
    if folder is None:
        with as_file(files("rearview.evaluation").joinpath("data", "scenarios")) as shipped:
            return read_scenarios(shipped)
    found: list[ScenarioFile] = []
    errors: list[str] = []
    for path in sorted(path for ending in ("yaml", "yml") for path in folder.rglob(f"*.{ending}")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        try:
            found.append(ScenarioFile(name, Scenario.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))))
        except ValidationError as error:
            errors.extend(f"{path}: {_place(one['loc'])}: {one['msg']}" for one in error.errors())
        except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
            errors.append(f"{path}: {error}")
    if errors:
        raise ValueError("\n".join(errors))
    if not found:
        raise ValueError(f"{folder}: no scenario in it (*.yaml)")
    return found


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "file"
