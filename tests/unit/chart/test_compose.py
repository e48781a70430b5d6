"""compose.yaml tells the services what they read, in a form that they take, and uses the images that the chart does."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from helm.tools.generate import CHART, SERVICES
from helm.tools.settings import CONFIGS, settings_of
from rearview.mcp_adapter.config import McpConfig

ROOT = CHART.parents[1]
VARIABLE = re.compile(r"\$\{(\w+)[^}]*\}")
ONE_SHOT = ("migrate", "bucket")
FILLED = {"OPERATOR_KEY": f"rv_operator_{'0' * 48}"}


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
    return content


@pytest.mark.parametrize("service", CONFIGS)
def test_a_service_reads_what_it_is_told(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = compose()["services"][service]["environment"]
    assert set(told) <= {setting.variable for setting in settings_of(service)}
    for name, value in told.items():
        monkeypatch.setenv(name, VARIABLE.sub(lambda found: FILLED.get(found[1], "0" * 48), str(value)))
    CONFIGS[service]()


def test_the_mcp_server_takes_what_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = compose()["services"]["mcp"]["environment"]
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert McpConfig().gateway == "gateway:50051"
    assert {name.removeprefix("REARVIEW_").lower() for name in told} <= set(McpConfig.model_fields)


def test_make_env_writes_every_variable_that_is_needed() -> None:
    needed = set(VARIABLE.findall((ROOT / "docker" / "compose.yaml").read_text("utf-8")))
    script = (ROOT / "docker" / "make-env.sh").read_text("utf-8")
    assert {name for name in needed if name not in script} == set()


def test_every_service_is_healthy_before_it_counts_confined_and_on_the_named_network() -> None:
    for name, service in compose()["services"].items():
        assert service["networks"] == ["rearview"], name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "healthcheck" in service or name in ONE_SHOT, name


def test_foreign_images_are_pinned_and_the_charts() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    for name, service in compose()["services"].items():
        if service["image"].startswith("localhost/rearview/"):
            continue
        assert re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", service["image"]), name
        if name in values:
            image = values[name]["image"]
            assert service["image"] == f"{image['repository']}:{image['tag']}@{image['digest']}"


@pytest.mark.parametrize("path", sorted((ROOT / "docker").glob("*.Dockerfile")), ids=lambda path: path.name)
def test_images_are_pinned_unprivileged_labelled_and_listed(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.search(r"^ARG PYTHON=\S+@sha256:[0-9a-f]{64}$", text, re.MULTILINE)
    assert "\nUSER 10001:10001\n" in text
    assert "org.opencontainers.image.title" in text
    assert f"/opt/sbom/rearview-{path.name.partition('.')[0]}.cdx.json" in text
    assert "torch" not in text.replace("adds torch", "")


def test_prometheus_scrapes_every_process_where_it_serves_its_metrics() -> None:
    (job,) = yaml.safe_load((ROOT / "docker" / "prometheus.yaml").read_text("utf-8"))["scrape_configs"]
    (targets,) = [each["targets"] for each in job["static_configs"]]
    services = compose()["services"]
    served = {f"{name}:{services[name]['environment']['REARVIEW_METRICS_PORT']}" for name in SERVICES}
    assert set(targets) == served | {f"mcp:{services['mcp']['environment']['REARVIEW_MCP_METRICS_PORT']}"}
