"""Every expression of PromQL that the chart ships: of dashboards' panels, of recording rules, of alerts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from helm.tools.generate import CHART

RULES = CHART / "rules"
DASHBOARDS = CHART / "dashboards"


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as Prometheus gets it, and where it stands."""

    where: str
    text: str

    def __str__(self) -> str:
        return self.where


def rules() -> list[dict[str, Any]]:
    """Return every rule of every file."""
    return [
        rule
        for path in sorted(RULES.glob("*.yaml"))
        for group in yaml.safe_load(path.read_text("utf-8"))["groups"]
        for rule in group["rules"]
    ]


def alerts() -> list[dict[str, Any]]:
    """Return the rules that alert."""
    return [rule for rule in rules() if "alert" in rule]


def recordings() -> set[str]:
    """Return the names of the series that rules record."""
    return {rule["record"] for rule in rules() if "record" in rule}


def of_rules() -> list[Expression]:
    """Return the expressions of the rules."""
    return [Expression(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()]


def of_panels(window: str = "5m") -> list[Expression]:
    """Return the expressions of the dashboards, with `window` for what Grafana fills in."""
    return [
        Expression(f"{path.stem}: {panel['title']}", filled_in(target["expr"], window))
        for path in sorted(DASHBOARDS.glob("*.json"))
        for panel in _panels(json.loads(path.read_text("utf-8")))
        for target in panel["targets"]
    ]


def filled_in(expression: str, window: str) -> str:
    """Return an expression of a dashboard as Grafana sends it, for all namespaces."""
    return expression.replace("$__rate_interval", window).replace("$namespace", ".*")


def _panels(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for panel in board["panels"]:
        if panel["type"] != "row":
            yield panel
        yield from _panels({"panels": panel.get("panels", ())})
