"""Helm installs, upgrades, rolls back and uninstalls, against a stand-in of the API that refuses what is immutable."""

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helm.api_stand_in import Cluster, api_stand_in
from tests.helm.tools import CHART, NAMESPACE, tool, values_set

SERVICES = {f"rv-rearview-{name}" for name in ("gateway", "writer", "retriever", "lifecycle")}


class Releases:
    """Helm, led to the stand-in."""

    def __init__(self, cluster: Cluster, kubeconfig: Path) -> None:
        self.cluster = cluster
        self._options = ("--kubeconfig", str(kubeconfig), "--namespace", NAMESPACE)

    def helm(self, *arguments: str | Path) -> list[tuple[str, str, str]]:
        """Run it, and return what it changed. Raises: AssertionError: it failed."""
        before = len(self.cluster.changes)
        command = [tool("helm"), *map(str, arguments), *self._options]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return self.cluster.changes[before:]

    def install(self, values: str) -> list[tuple[str, str, str]]:
        return self.helm("install", "rv", CHART, "-f", values_set(values))

    def upgrade(self, values: str, *options: str) -> list[tuple[str, str, str]]:
        return self.helm("upgrade", "rv", CHART, "-f", values_set(values), *options)

    def secrets(self) -> dict[str, dict[str, str]]:
        """The data of the Secrets."""
        return {name: dict(each.get("data", {})) for name, each in self.cluster.named("Secret").items()}

    def images(self) -> set[str]:
        """The tags of the services' images."""
        found: set[str] = set()
        for name, each in self.cluster.named("Deployment").items():
            spec: Any = each["spec"]["template"]["spec"]
            found |= {part["image"].rpartition(":")[2] for part in spec["containers"] if name in SERVICES}
        return found


@pytest.fixture
def releases(tmp_path: Path) -> Iterator[Releases]:
    with api_stand_in(tmp_path) as (cluster, kubeconfig):
        yield Releases(cluster, kubeconfig)


def test_what_was_generated_stays_and_migrations_come_before_new_pods(releases: Releases) -> None:
    releases.install("kind")
    made = releases.secrets()
    assert len(base64.b64decode(made["rv-rearview-secrets"]["internal-key"])) == 48

    changed = releases.upgrade("kind", "--set", "image.tag=0.2.0")
    assert releases.secrets() == made
    assert releases.images() == {"0.2.0"}
    migrated = changed.index(("DELETE", "Job", "rv-rearview-migrate-pre"))  # it goes when it has succeeded
    assert [kind for _, kind, _ in changed].index("Deployment") > migrated

    back = releases.helm("rollback", "rv", "1")
    assert releases.images() == {"0.1.0"}
    assert releases.secrets() == made
    assert not [name for _, kind, name in back if kind == "Job" and "migrate-pre" in name]

    releases.helm("uninstall", "rv")
    assert not releases.cluster.named("Deployment")
    kept = {f"rv-rearview-{store}-data" for store in ("postgresql", "minio")}
    assert set(releases.cluster.named("PersistentVolumeClaim")) == kept


def test_with_a_database_of_ones_own_migrations_have_its_secret_before_anything_else(releases: Releases) -> None:
    changed = releases.install("external")
    done = changed.index(("DELETE", "Job", "rv-rearview-migrate-pre"))
    assert {kind for _, kind, _ in changed[:done]} == {"Secret", "Job"}

    after = releases.upgrade("external", "--wait=hookOnly", "--set", "migrations.post=true")
    jobs = [name for method, kind, name in after if kind == "Job" and method == "APPLY"]
    assert jobs == ["rv-rearview-migrate-pre", "rv-rearview-bucket", "rv-rearview-migrate-post"]
