"""Dashboards and alerts: every expression is PromQL, and every alert leads to a section that says what to do."""

import re

import pytest
import yaml

from helm.tools.dashboards import BOARDS
from helm.tools.generate import CHART
from helm.tools.service_levels import OBJECTIVES, service_levels
from tests.support.expressions import alerts, of_panels, of_rules, recordings
from tests.support.scrape import metrics_of

RUNBOOKS = CHART.parents[1] / "docs" / "runbooks.md"
PARTS = ("Meaning", "Impact", "Diagnosis", "Mitigation")


def test_every_expression_is_promql_and_names_metrics_of_ours() -> None:
    ours = re.compile(r"rearview_(gateway|writer|retriever|lifecycle|mcp)_\w+|process_\w+")
    for expression in [*of_panels(), *of_rules()]:
        named = metrics_of(expression.text)
        assert named, expression
        assert {name for name in named if not ours.fullmatch(name)} <= recordings(), expression


def test_what_is_no_promql_is_told() -> None:
    with pytest.raises(ValueError, match="parenthesis"):
        metrics_of("sum by (rate(rearview_gateway_requests_total[5m])")
    expression = "sum(rate(a_total{x='y'}[5m])) / (b > 0) or -max_over_time(c[1h:1m]) + topk(3, d)"
    assert metrics_of(expression) == {"a_total", "b", "c", "d"}


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: str(alert["alert"]))
def test_an_alert_leads_to_its_section_in_the_runbooks(alert: dict[str, dict[str, str]]) -> None:
    path, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert path == "docs/runbooks.md"
    sections = re.split(r"^## ", RUNBOOKS.read_text("utf-8"), flags=re.MULTILINE)[1:]
    (section,) = [text for text in sections if text.partition("\n")[0].strip().lower() == anchor]
    assert [part for part in PARTS if f"**{part}.**" in section] == list(PARTS)
    assert alert["labels"]["severity"] in ("critical", "warning")
    assert alert["annotations"]["summary"].endswith(".")


def test_every_section_belongs_to_an_alert() -> None:
    sections = re.findall(r"^## (\w+)$", RUNBOOKS.read_text("utf-8"), flags=re.MULTILINE)
    linked = {alert["annotations"]["runbook"].partition("#")[2] for alert in alerts()}
    assert {section.lower() for section in sections} == linked


def test_an_objective_has_an_alert_for_every_speed_at_which_its_budget_burns() -> None:
    groups = yaml.safe_load(service_levels())["groups"]
    assert len(groups) == 2 * len(OBJECTIVES)
    for objective in OBJECTIVES:
        of_it = [alert["alert"] for alert in alerts() if alert["labels"].get("slo") == objective.name]
        assert of_it == [f"{objective.alert}{speed}Burn" for speed in ("Fast", "Quick", "Steady", "Slow")]


def test_dashboards_are_the_promised_ones() -> None:
    names = {board.name for board in BOARDS}
    services = {f"service-{name}" for name in ("gateway", "writer", "retriever", "lifecycle", "mcp")}
    assert names == {"overview", "recall", "cache", "lifecycle", "tenancy"} | services
    assert {path.stem for path in (CHART / "dashboards").glob("*.json")} == names
