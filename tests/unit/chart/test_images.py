"""Each image installs what its service imports: the extras that its Dockerfile names, and no other package, suffice."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from docker.requirements import requirements
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
PROVIDED = packages_distributions()
STARTED = {
    "gateway": "rearview.gateway.app",
    "writer": "rearview.writer.app",
    "retriever": "rearview.retriever.app",
    "lifecycle": "rearview.lifecycle.app",
    "migrate": "rearview.migrate.__main__",
    "mcp": "rearview.mcp_adapter.__main__",
}
SCRIPT = """
import importlib, json, sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT = set(json.loads(sys.argv[2]))
sys.meta_path.insert(0, NotInstalled())
importlib.import_module(sys.argv[1])
"""


def installed(image: str) -> set[str]:
    """The distributions that pip installs for an image, by their canonical names."""
    text = (ROOT / "docker" / f"{image}.Dockerfile").read_text("utf-8")
    (extras,) = re.findall(r'^ARG EXTRAS="([\w -]+)"$', text, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting, seen = [Requirement(each) for each in requirements(project, extras.split())], set[tuple[str, str]]()
    while waiting:
        one = waiting.pop()
        for extra in ("", *one.extras):
            key = (canonicalize_name(one.name), extra)
            if key in seen:
                continue
            seen.add(key)
            try:
                needed = [Requirement(each) for each in requires(one.name) or ()]
            except PackageNotFoundError:  # for another system or version of Python
                continue
            waiting += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": extra})]
    return {name for name, _ in seen}


@pytest.mark.parametrize("image", STARTED)
def test_a_service_starts_with_what_its_image_installs(image: str) -> None:
    there = installed(image)
    absent = [
        module
        for module, distributions in PROVIDED.items()
        if module != "rearview" and not there & {canonicalize_name(each) for each in distributions}
    ]
    assert "pytest" in absent
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, STARTED[image], json.dumps(absent)],
        env={"PYTHONPATH": str(ROOT / "services")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
