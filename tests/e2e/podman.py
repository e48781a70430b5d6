"""Runs rendered manifests under `podman kube play`, as far as that speaks Kubernetes.

There is no API server: Services become aliases on a network, Jobs become pods, a Secret is put in by hand, probes are
asked by the caller, and policies, accounts, budgets and scalers are left out. Everything in a pod stays what the chart
says: images, users, read-only roots, capabilities, variables, mounts, grace periods.
"""

import base64
import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

PLAYABLE = ("PersistentVolumeClaim", "ConfigMap")


@dataclass(slots=True)
class Cluster:
    """One network with pods on it, named after what it runs; everything of it goes when it is closed.

    Attributes:
        name: of the network, and before the names of what is made.
        namespace: of the manifests.
        folder: where files are written.
        environment: of podman.
    """

    name: str
    namespace: str
    folder: Path
    environment: dict[str, str]
    played: list[Path] = field(default_factory=list)

    def podman(self, *arguments: str, check: bool = True, text: str | None = None, timeout: float = 300) -> str:
        """Run podman and return what it prints. Raises: AssertionError: it failed."""
        ended = subprocess.run(
            ["podman", "--runtime", "runc", *arguments],
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert ended.returncode == 0 or not check, f"podman {' '.join(arguments)}: {ended.stdout}{ended.stderr}"
        return ended.stdout + (ended.stderr if not check else "")

    def put_secret(self, secret: Manifest) -> None:
        """Make the Secret known; podman wants its data as the API would give it."""
        data = {key: base64.b64encode(str(value).encode()).decode() for key, value in secret["stringData"].items()}
        self.podman("secret", "create", secret["metadata"]["name"], "-", text=json.dumps(data))

    def play(self, documents: Sequence[Manifest], name: str, *, published: dict[int, int] | None = None) -> str:
        """Start the Deployment or Job of that name with what it mounts, and return its pod's name.

        `published` are ports of the first container with those of 127.0.0.1 that lead to them.
        """
        (workload,) = [
            part for part in documents if part["kind"] in ("Deployment", "Job") and part["metadata"]["name"] == name
        ]
        pod: Manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-pod", "labels": workload["spec"]["template"]["metadata"]["labels"]},
            "spec": json.loads(json.dumps(workload["spec"]["template"]["spec"])),
        }
        spec: Manifest = pod["spec"]
        if workload["kind"] == "Job":
            spec["restartPolicy"] = "Never"
        renamed = {volume["name"]: f"{name}-{volume['name']}" for volume in spec["volumes"]}
        for volume in spec["volumes"]:  # podman's volumes have no pods around them
            volume["name"] = renamed[volume["name"]]
        for number, container in enumerate(spec["containers"]):
            for mount in container["volumeMounts"]:
                mount["name"] = renamed[mount["name"]]
            # Every named port would be opened on the host.
            opened = (published or {}) if number == 0 else {}
            container["ports"] = [
                {"containerPort": inner, "hostPort": outer, "hostIP": "127.0.0.1"} for inner, outer in opened.items()
            ]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                container.pop(probe, None)
        needed = [part for part in documents if part["kind"] in PLAYABLE and part["metadata"]["name"] in _names(spec)]
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump_all([*needed, pod]), "utf-8")
        alias = f"{name}.{self.namespace}.svc.cluster.local"
        self.played.append(path)  # what could not be started has left something, too
        self.podman("kube", "play", "--network", f"{self.name}:alias={alias},alias={name}", str(path))
        return f"{name}-pod"

    def run(self, documents: Sequence[Manifest], name: str, *, attempts: int) -> None:
        """Run a Job to its end, again where it fails. Raises: AssertionError: it failed each time."""
        (container,) = self._container_names(documents, name)
        whole = f"{self.play(documents, name)}-{container}"
        for attempt in range(attempts):
            if attempt:
                time.sleep(3)
                self.podman("start", whole)
            if int(self.podman("wait", whole).strip().splitlines()[-1]) == 0:
                return
        raise AssertionError(f"{name} failed {attempts} times: {self.podman('logs', whole, check=False)}")

    @staticmethod
    def _container_names(documents: Sequence[Manifest], name: str) -> list[str]:
        found = next(part for part in documents if part["kind"] == "Job" and part["metadata"]["name"] == name)
        return [container["name"] for container in found["spec"]["template"]["spec"]["containers"]]

    def execute(self, container: str, *command: str) -> tuple[int, str]:
        """Return exit code and output of a command in a container."""
        ended = subprocess.run(
            ["podman", "--runtime", "runc", "exec", container, *command],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return ended.returncode, ended.stdout + ended.stderr


def _names(spec: Manifest) -> set[str]:
    """The claims and ConfigMaps that a pod refers to."""
    found = set()
    for volume in spec["volumes"]:
        found.add(volume.get("persistentVolumeClaim", {}).get("claimName"))
        found.add(volume.get("configMap", {}).get("name"))
    for container in spec["containers"]:
        found |= {source["configMapRef"]["name"] for source in container.get("envFrom", ())}
    return found - {None}


@contextmanager
def cluster(name: str, namespace: str, folder: Path) -> Iterator[Cluster]:
    """Yield a network of its own; afterwards its pods, volumes and secret are gone."""
    limits = folder / "containers.conf"
    limits.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n', "utf-8")
    made = Cluster(name, namespace, folder, {**os.environ, "CONTAINERS_CONF": str(limits)})
    made.podman("network", "create", name)
    try:
        yield made
    finally:
        for path in reversed(made.played):
            made.podman("kube", "down", str(path), check=False)
            for document in yaml.safe_load_all(path.read_text("utf-8")):
                if document["kind"] in PLAYABLE:
                    made.podman("volume", "rm", "--force", document["metadata"]["name"], check=False)
                for volume in document.get("spec", {}).get("volumes", ()):
                    made.podman("volume", "rm", "--force", volume["name"], check=False)
        made.podman("secret", "rm", "rearview", check=False)
        made.podman("network", "rm", "--force", name, check=False)
