"""Every set of values renders, lints, and is what Kubernetes takes."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helm.tools import CHART, ROOT, VALUE_SETS, manifests, run, template, tool, values_set
from tests.support.expressions import of_panels
from tests.support.scrape import metrics_of

VERSIONS = ("1.37.0", "1.36.0", "1.35.0")
# Kinds of operators, of which no schema is at hand offline.
FOREIGN = {"ServiceMonitor", "PrometheusRule", "ScaledObject", "Certificate", "GRPCRoute", "Gateway"}


@pytest.mark.parametrize("values", VALUE_SETS, ids=lambda path: path.stem)
def test_lints(values: Path) -> None:
    ended = run(tool("helm"), "lint", "--strict", CHART, "-f", values)
    assert ended.returncode == 0, ended.stdout


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file with every different manifest of all sets of values that Kubernetes itself has a schema for."""
    found: dict[str, dict[str, Any]] = {}
    for values in VALUE_SETS:
        for options in ((), ("--is-upgrade", "--set", "migrations.post=true")):
            for part in manifests(values, *options):
                if part["kind"] not in FOREIGN:
                    found[json.dumps(part, sort_keys=True)] = part
    path = tmp_path_factory.mktemp("rendered") / "all.yaml"
    path.write_text("---\n".join(f"{json.dumps(part)}\n" for part in found.values()), "utf-8")
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_them(rendered: Path, version: str) -> None:
    ended = run(tool("kubernetes-validate"), "-k", version, "--strict", rendered)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_what_kubernetes_does_not_know_is_refused(rendered: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text(rendered.read_text("utf-8").replace('"imagePullPolicy"', '"imagePullPolice"', 1), "utf-8")
    ended = run(tool("kubernetes-validate"), "-k", VERSIONS[0], "--strict", broken)
    assert ended.returncode != 0
    assert "imagePullPolice" in ended.stdout + ended.stderr


def test_the_sets_are_the_promised_ones() -> None:
    promised = {
        *("kind", "minikube", "ha", "external", "tls", "tls-existing", "internal-tls", "internal-tls-existing"),
        *("no-mcp", "minimal", "airgap", "plain"),
    }
    assert {values.stem for values in VALUE_SETS} == promised


def test_operators_kinds_are_rendered_where_asked_for() -> None:
    kinds = {name: {part["kind"] for part in manifests(values_set(name))} for name in ("ha", "tls", "kind")}
    assert {"ServiceMonitor", "PrometheusRule", "ScaledObject"} <= kinds["ha"]
    assert {"Certificate", "GRPCRoute", "Gateway", "Ingress"} <= kinds["tls"]
    assert not kinds["kind"] & FOREIGN


def test_scalers_look_at_metrics_that_dashboards_show() -> None:
    documents: list[Any] = manifests(values_set("ha"))
    queries = {
        part["spec"]["scaleTargetRef"]["name"]: trigger["metadata"]["query"]
        for part in documents
        if part["kind"] == "ScaledObject"
        for trigger in part["spec"]["triggers"]
        if trigger["type"] == "prometheus"
    }
    shown = {name for panel in of_panels() for name in metrics_of(panel.text)}
    assert {target: metrics_of(query) for target, query in queries.items()} == {
        "rv-rearview-retriever": {"rearview_retriever_requests_in_progress"},
        "rv-rearview-writer-worker": {"rearview_lifecycle_queue_jobs"},
    }
    assert {name for query in queries.values() for name in metrics_of(query)} <= shown


def test_rules_and_dashboards_are_those_of_the_folders() -> None:
    found: list[Any] = manifests(values_set("ha"))
    rules = {part["metadata"]["name"]: part["spec"] for part in found if part["kind"] == "PrometheusRule"}
    for path in (CHART / "rules").glob("*.yaml"):
        assert rules[f"rv-rearview-{path.stem}"] == yaml.safe_load(path.read_text("utf-8"))
    boards = [part for part in found if part["metadata"]["labels"].get("grafana_dashboard") == "1"]
    assert {name: json.loads(text) for part in boards for name, text in part["data"].items()} == {
        path.name: json.loads(path.read_text("utf-8")) for path in (CHART / "dashboards").glob("*.json")
    }
    assert boards
    assert rules


def test_the_smoke_test_in_the_chart_is_python() -> None:
    found: list[Any] = manifests(values_set("kind"))
    (smoke,) = [
        part["data"]["smoke.py"] for part in found if part["metadata"]["name"] == "rv-rearview-test" and "data" in part
    ]
    ast.parse(smoke)


def test_plain_manifests_are_up_to_date() -> None:
    plain = template(values_set("plain"), "--no-hooks")
    assert (ROOT / "k8s" / "rendered.yaml").read_text("utf-8") == plain, "run: make chart"


def test_an_own_certificate_is_used() -> None:
    (ingress,) = [part for part in manifests(values_set("tls-existing")) if part["kind"] == "Ingress"]
    spec: Any = ingress["spec"]
    assert spec["tls"] == [{"hosts": ["memory.example.com"], "secretName": "memory-example-com"}]


def test_dockerfiles_are_clean() -> None:
    files = [*(ROOT / "docker").glob("*.Dockerfile"), *(ROOT / "docker" / "stores").glob("*.Dockerfile")]
    ended = run(tool("hadolint"), *files)
    assert ended.returncode == 0, ended.stdout
