"""The images, run as the chart says, under Podman: the main job through the published port, unprivileged, read-only.

`make e2e-containers` runs this; `docker/build.sh` builds the images first. Without Podman it fails and says so.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.podman import Cluster, cluster
from tests.helm.tools import CHART, ROOT, manifests

VALUES = Path(__file__).with_name("podman-values.yaml")
NAMESPACE = "rearview"
STORES = ("postgresql", "redis", "minio")
SERVICES = {"writer": 50052, "retriever": 50053, "lifecycle": 50054, "gateway": 50051}
PORT = int(os.environ.get("REARVIEW_E2E_PORT", "50151"))
PATIENCE_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Release:
    """What runs: the pods by component, and the operator's key."""

    cluster: Cluster
    operator_key: str

    def container(self, component: str) -> str:
        return f"rv-rearview-{component}-pod-{component}"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    for program in ("podman", "buildah"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is missing; these tests need podman, buildah and runc")
    if os.environ.get("REARVIEW_E2E_BUILD", "yes") == "yes":
        images = [*(f"stores/{store}" for store in STORES), "migrate", *SERVICES, "mcp"]
        built = subprocess.run(
            [ROOT / "docker" / "build.sh", "--standin", *images], cwd=ROOT, check=False, timeout=3600
        )
        assert built.returncode == 0
    documents: list[dict[str, Any]] = manifests(VALUES, "--no-hooks")
    secret = yaml.safe_load(subprocess.check_output([ROOT / "k8s" / "make-secret.sh", NAMESPACE], text=True))
    with cluster("rearview-e2e", NAMESPACE, tmp_path_factory.mktemp("podman")) as made:
        made.put_secret(secret)
        for store in STORES:
            made.play(documents, f"rv-rearview-{store}")
        made.run(documents, "rv-rearview-migrate-0-1-0", attempts=3)
        made.run(documents, "rv-rearview-bucket-0-1-0", attempts=10)
        running = Release(made, secret["stringData"]["operator-key"])
        for service, port in SERVICES.items():
            published = {port: PORT} if service == "gateway" else None
            made.play(documents, f"rv-rearview-{service}", published=published)
        for service, port in SERVICES.items():
            until_serving(running, service, port)
        yield running


def until_serving(release: Release, service: str, port: int) -> None:
    """Ask what the chart's readiness probe asks, until the answer is the wanted one."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        code, output = release.cluster.execute(
            release.container(service), "python", "/opt/app/health.py", f"127.0.0.1:{port}"
        )
        if code == 0:
            return
        if time.monotonic() > deadline:
            logs = release.cluster.podman("logs", release.container(service), check=False)
            pytest.fail(f"{service} does not serve: {output[-500:]}\n{logs[-2000:]}")
        time.sleep(3)  # each look starts a Python of its own


def test_append_recall_and_forget_through_the_published_port(release: Release) -> None:
    ended = subprocess.run(
        [sys.executable, CHART / "files" / "smoke.py"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "services"),
            "GATEWAY": f"127.0.0.1:{PORT}",
            "OPERATOR_KEY": release.operator_key,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "append, recall, forget: done" in ended.stdout


@pytest.mark.parametrize("component", [*SERVICES, *STORES])
def test_processes_are_unprivileged_and_their_root_read_only(release: Release, component: str) -> None:
    container = release.container(component)
    code, output = release.cluster.execute(
        container, "sh", "-c", "id -u; touch /opt/here /here /usr/here; cat /proc/1/status"
    )
    assert code == 0
    assert int(output.splitlines()[0]) >= 999
    assert output.count("Read-only file system") == 3
    status = dict(line.split(":\t", 1) for line in output.splitlines() if ":\t" in line)
    assert status["CapEff"] == "0000000000000000"
    assert status["CapBnd"] == "0000000000000000"
    assert status["NoNewPrivs"] == "1"


def test_the_mcp_server_beside_the_gateway_asks_for_a_key(release: Release) -> None:
    ask = "import urllib.request as r; r.urlopen(r.Request('http://127.0.0.1:50060/mcp', b'{}'))"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        _, output = release.cluster.execute("rv-rearview-gateway-pod-mcp", "python", "-c", ask)
        if "HTTP Error 401" in output:
            return
        assert time.monotonic() < deadline, output
        time.sleep(1)


@pytest.mark.parametrize("service", SERVICES)
def test_images_hold_no_compiler_no_installer_and_no_torch(release: Release, service: str) -> None:
    script = "command -v gcc cc make; ls /opt/rearview/bin; ls /opt/rearview/lib/python3.11/site-packages"
    _, output = release.cluster.execute(release.container(service), "sh", "-c", script)
    names = set(output.split())
    assert not names & {"pip", "pip3", "torch", "transformers", "/usr/bin/gcc", "/usr/bin/cc", "/usr/bin/make"}
    code, listed = release.cluster.execute(release.container(service), "cat", f"/opt/sbom/rearview-{service}.cdx.json")
    assert code == 0
    assert '"pkg:pypi/grpcio@1.85.1"' in listed


def test_a_service_ends_orderly_within_its_grace_period(release: Release) -> None:
    name = release.container("retriever")
    release.cluster.podman("stop", "--time", "30", name)
    assert release.cluster.podman("inspect", name, "--format", "{{.State.ExitCode}}").strip() == "0"
    assert '"stopped"' in release.cluster.podman("logs", name, check=False)
    release.cluster.podman("start", name)
    until_serving(release, "retriever", SERVICES["retriever"])
