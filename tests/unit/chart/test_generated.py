"""The chart says what the services' configuration says, and sets what they read."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from helm.tools.generate import CHART, SERVICES, outputs, services
from helm.tools.settings import CONFIGS, settings_of
from rearview.mcp_adapter.config import McpConfig

PLAIN = CHART.parents[1] / "k8s" / "rendered.yaml"
WORKLOADS = ("Deployment", "Job")


@pytest.mark.parametrize("path", outputs(), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == outputs()[path], "run: make chart"


def variables() -> dict[str, set[str]]:
    """What each container of the plain manifests is told, by the container's name."""
    documents: list[dict[str, Any]] = [part for part in yaml.safe_load_all(PLAIN.read_text("utf-8")) if part]
    maps = {part["metadata"]["name"]: set(part["data"]) for part in documents if part["kind"] == "ConfigMap"}
    found: dict[str, set[str]] = {}
    for document in documents:
        if document["kind"] not in WORKLOADS:
            continue
        for container in document["spec"]["template"]["spec"]["containers"]:
            names = {entry["name"] for entry in container.get("env", ())}
            for source in container.get("envFrom", ()):
                names |= maps[source["configMapRef"]["name"]]
            found[container["name"]] = names
    return found


@pytest.mark.parametrize("service", CONFIGS)
def test_a_service_is_told_what_it_needs_and_nothing_that_it_does_not_read(service: str) -> None:
    told = variables()[service]
    settings = settings_of(service)
    assert told >= {setting.variable for setting in settings if setting.required}
    assert told <= {setting.variable for setting in settings}


def test_the_mcp_server_is_told_nothing_that_it_does_not_read() -> None:
    told = {name.removeprefix("REARVIEW_").lower() for name in variables()["mcp"]}
    assert {"gateway", "mcp_listen", "mcp_allowed_hosts"} <= told <= set(McpConfig.model_fields)


def test_only_the_gateway_learns_the_operators_credentials_and_only_migrations_the_owners() -> None:
    told = variables()
    assert [name for name, names in told.items() if "REARVIEW_OPERATOR_KEY" in names] == ["gateway"]
    assert [name for name, names in told.items() if "REARVIEW_OPERATOR_DATABASE_URL" in names] == ["gateway"]
    assert [name for name, names in told.items() if "REARVIEW_DATABASE_OWNER_URL" in names] == ["migrate"]


@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_is_of_one_kind(service: str) -> None:
    facts = services()[service]
    secrets = {secret["variable"] for secret in facts["secrets"]}
    kinds = [set(facts["places"]), secrets, set(facts["settings"].values())]
    assert sum(len(kind) for kind in kinds) == len(settings_of(service))
    assert set.union(*kinds) == {setting.variable for setting in settings_of(service)}


def test_values_name_every_secret() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    wanted = {setting.key for service in CONFIGS for setting in settings_of(service) if setting.secret}
    assert wanted <= set(values["secrets"])
