"""What the chart sets is what the services parse: their own configuration classes read it."""

from pathlib import Path
from typing import Any

import pytest

from helm.tools.settings import CONFIGS
from tests.helm.tools import VALUE_SETS, manifests, values_set

SECRET_VALUES = {
    "REARVIEW_DATABASE_URL": "postgresql://rearview_service:x@db/rearview",
    "REARVIEW_OPERATOR_DATABASE_URL": "postgresql://rearview_operator:x@db/rearview",
    "REARVIEW_DATABASE_OWNER_URL": "postgresql://rearview_owner:x@db/rearview",
    "REARVIEW_REDIS_URL": "redis://:x@redis:6379/0",
    "REARVIEW_INTERNAL_KEY": "k" * 48,
    "REARVIEW_AUDIT_KEY": "a" * 48,
    "REARVIEW_OPERATOR_KEY": f"rv_operator_{'k' * 48}",
    "REARVIEW_VAULT_KEY": "a:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
    "REARVIEW_EMBEDDER_API_KEY": "token",
    "REARVIEW_LLM_API_KEY": "token",
    "REARVIEW_S3_ACCESS_KEY": "rearview",
    "REARVIEW_S3_SECRET_KEY": "secret",
}


def environments(documents: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """The variables of each pod that runs a service, by the name of its Deployment or Job."""
    maps = {part["metadata"]["name"]: part["data"] for part in documents if part["kind"] == "ConfigMap"}
    found: dict[str, dict[str, str]] = {}
    for document in documents:
        if document["kind"] not in ("Deployment", "Job"):
            continue
        for container in document["spec"]["template"]["spec"]["containers"]:
            if container["name"] not in CONFIGS:
                continue
            values: dict[str, str] = {}
            for source in container.get("envFrom", ()):
                values |= maps[source["configMapRef"]["name"]]
            for entry in container.get("env", ()):
                values[entry["name"]] = entry.get("value") or SECRET_VALUES[entry["name"]]
            found[f"{document['metadata']['name']} {container['name']}"] = values
    return found


@pytest.mark.parametrize("values", VALUE_SETS, ids=lambda path: path.stem)
def test_services_read_what_the_chart_sets(values: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = environments(manifests(values))
    assert {name.split()[-1] for name in found} == set(CONFIGS)
    for name, variables in found.items():
        with monkeypatch.context() as patch:
            for variable, value in variables.items():
                patch.setenv(variable, value)
            CONFIGS[name.split()[-1]]()


def test_settings_reach_the_services_that_read_them_and_own_ones_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--set-json", 'settings={"drainSeconds": 30, "embedder": "http:e5", "maxConcurrentCalls": 100000}')
    own = ("--set-json", 'gateway.settings={"drainSeconds": 12.5}')
    found = environments(manifests(values_set("no-mcp"), *options, *own))
    assert found["rv-rearview-gateway gateway"]["REARVIEW_DRAIN_SECONDS"] == "12.5"
    assert found["rv-rearview-writer writer"]["REARVIEW_DRAIN_SECONDS"] == "30"
    assert found["rv-rearview-writer writer"]["REARVIEW_MAX_CONCURRENT_CALLS"] == "100000"
    assert found["rv-rearview-writer writer"]["REARVIEW_EMBEDDER"] == "http:e5"
    assert "REARVIEW_EMBEDDER" not in found["rv-rearview-retriever retriever"]


def test_services_prove_themselves_to_each_other_or_say_that_they_do_not() -> None:
    documents: list[dict[str, Any]] = manifests(values_set("internal-tls"))
    for name, variables in environments(documents).items():
        service = name.split()[-1]
        files = {variable: value for variable, value in variables.items() if variable.endswith("_FILE")}
        if service == "migrate":
            continue
        prefix, authorities = ("SERVICES", "CA") if service == "gateway" else ("TLS", "CLIENT_CA")
        assert files == {
            f"REARVIEW_{prefix}_CERT_FILE": "/etc/rearview/tls/tls.crt",
            f"REARVIEW_{prefix}_KEY_FILE": "/etc/rearview/tls/tls.key",
            f"REARVIEW_{prefix}_{authorities}_FILE": "/etc/rearview/tls/ca.crt",
        }
        # Callers' TLS ends at the edge, so the gateway alone serves its pod's address in plain.
        assert ("REARVIEW_ALLOW_PLAINTEXT" in variables) == (service == "gateway")
    for document in documents:
        if document["kind"] != "Deployment":
            continue
        pod = document["spec"]["template"]["spec"]
        container = pod["containers"][0]
        if container["name"] not in CONFIGS or container["name"] == "migrate":
            continue
        probed = "50051" if container["name"] == "gateway" else "50059"
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert str(container[probe]["grpc"]["port"]) == probed
        (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "internal-tls"]
        assert volume["secret"]["secretName"] == f"rv-rearview-{container['name']}-internal-tls"
    told = environments(manifests(values_set("plain")))
    assert {values["REARVIEW_ALLOW_PLAINTEXT"] for name, values in told.items() if "migrate" not in name} == {"true"}
    refused = environments(manifests(values_set("plain"), "--set-json", 'writer.settings={"allowPlaintext": false}'))
    assert refused["rv-rearview-writer writer"]["REARVIEW_ALLOW_PLAINTEXT"] == "false"


def test_writers_are_parted_by_role() -> None:
    found = environments(manifests(values_set("ha")))
    roles = {name.split()[0]: values.get("REARVIEW_WRITER_ROLE") for name, values in found.items() if "writer" in name}
    assert roles == {"rv-rearview-writer": "serve", "rv-rearview-writer-worker": "work"}


@pytest.mark.parametrize("values", VALUE_SETS, ids=lambda path: path.stem)
def test_pods_have_longer_to_end_than_notice_and_drain_take(values: Path) -> None:
    documents: list[dict[str, Any]] = manifests(values)
    variables = environments(documents)
    seen = 0
    for document in documents:
        if document["kind"] != "Deployment":
            continue
        pod = document["spec"]["template"]["spec"]
        container = pod["containers"][0]
        key = f"{document['metadata']['name']} {container['name']}"
        if key not in variables:
            continue
        drain = float(
            variables[key].get(
                "REARVIEW_DRAIN_SECONDS", CONFIGS[container["name"]].model_fields["drain_seconds"].default
            )
        )
        notice = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert pod["terminationGracePeriodSeconds"] > notice + drain
        seen += 1
    assert seen >= 4


def containers(documents: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """The variables with plain values of every container of a Deployment."""
    return {
        container["name"]: {entry["name"]: entry["value"] for entry in container.get("env", ()) if "value" in entry}
        for document in documents
        if document["kind"] == "Deployment"
        for container in document["spec"]["template"]["spec"]["containers"]
    }


def test_traces_go_to_the_collector_that_is_named_and_nowhere_otherwise() -> None:
    traced = containers(manifests(values_set("ha")))
    for name in ("gateway", "mcp", "writer", "retriever", "lifecycle"):
        told = {key: value for key, value in traced[name].items() if key.startswith("OTEL_")}
        assert told == {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel-collector.monitoring.svc:4317",
            "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.05",
        }, name
    assert "OTEL_" not in str(containers(manifests(values_set("plain"))))


def test_the_mcp_server_is_scraped_where_it_serves_its_metrics() -> None:
    documents: list[dict[str, Any]] = manifests(values_set("ha"))
    port = int(containers(documents)["mcp"]["REARVIEW_MCP_METRICS_PORT"])
    (service,) = [part for part in documents if part["metadata"]["name"] == "rv-rearview-mcp-metrics"]
    assert service["spec"]["ports"] == [
        {"name": "mcp-metrics", "port": port, "targetPort": "mcp-metrics", "protocol": "TCP"}
    ]
    (monitor,) = [part for part in documents if part["kind"] == "ServiceMonitor"]
    assert [endpoint["port"] for endpoint in monitor["spec"]["endpoints"]] == ["metrics", "mcp-metrics"]
