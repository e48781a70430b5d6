"""The chart's tools, which `make chart-tools` installs. Without them these tests fail, and say so."""

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "rearview"
VALUE_SETS = sorted((CHART / "ci").glob("*.yaml"))
NAMESPACE = "rearview"


def tool(name: str) -> str:
    """Return the path of a tool; fail the test where it is missing."""
    path = Path(os.environ.get("REARVIEW_CHART_TOOLS", ROOT / ".venv-chart" / "bin")) / name
    if not path.is_file():
        pytest.fail(f"{path} is missing; run: make chart-tools (or name its folder in REARVIEW_CHART_TOOLS)")
    return str(path)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command and return how it ended."""
    return subprocess.run([str(part) for part in arguments], capture_output=True, text=True, timeout=240, check=False)


@cache
def template(values: Path, *options: str) -> str:
    """Return what helm renders; fail the test where it refuses."""
    ended = run(tool("helm"), "template", "rv", CHART, "--namespace", NAMESPACE, "-f", values, *options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def manifests(values: Path, *options: str) -> list[dict[str, object]]:
    """Return the rendered manifests, parsed."""
    return [part for part in yaml.safe_load_all(template(values, *options)) if part]


def values_set(name: str) -> Path:
    """Return the path of a set of values by its name."""
    return CHART / "ci" / f"{name}.yaml"
