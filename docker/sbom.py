"""Prints a CycloneDX 1.6 list of the Python packages of the environment that runs it, and of Debian's beside them."""

import json
import subprocess
import sys
from importlib.metadata import distributions


def components() -> list[dict[str, object]]:
    """Return every installed package, of both kinds."""
    found: list[dict[str, object]] = []
    for package in sorted(distributions(), key=lambda item: item.name.lower()):
        name = package.name.lower().replace("_", "-")
        component: dict[str, object] = {
            "type": "library",
            "name": name,
            "version": package.version,
            "purl": f"pkg:pypi/{name}@{package.version}",
        }
        if "License-Expression" in package.metadata:
            component["licenses"] = [{"expression": package.metadata["License-Expression"]}]
        found.append(component)
    listed = subprocess.run(
        ["/usr/bin/dpkg-query", "-W", "-f", "${Package} ${Version} ${Architecture}\n"],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in listed.stdout.splitlines():
        name, version, architecture = line.split()
        purl = f"pkg:deb/debian/{name}@{version}?arch={architecture}"
        found.append({"type": "library", "name": name, "version": version, "purl": purl})
    return found


if __name__ == "__main__":
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components()}
    json.dump(bill, sys.stdout, indent=1)
