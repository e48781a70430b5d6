"""Every alert fires when it should and is silent when it should be, as promtool plays it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from helm.tools.service_levels import OBJECTIVES, Objective
from tests.monitoring.prometheus import promtool
from tests.support.expressions import RULES, Expression, alerts, of_panels, of_rules

G, W, R, L, M = (f"rearview_{name}" for name in ("gateway", "writer", "retriever", "lifecycle", "mcp"))


SERVICE_LEVELS = RULES / "service-levels.yaml"


@dataclass(frozen=True, slots=True)
class Case:
    """Series in promtool's notation, a sample a minute, and what of an alert is to be seen at some minute."""

    alert: str
    series: Mapping[str, str]
    minute: int
    fires: bool


def _both(alert: str, minute: int, bad: Mapping[str, str], good: Mapping[str, str]) -> list[Case]:
    return [Case(alert, bad, minute, True), Case(alert, good, minute, False)]


def _present(*services: str) -> dict[str, str]:
    return {f"rearview_{name}_requests_in_progress": "0x60" for name in services}


CASES = [
    *_both(
        "RearviewServiceAbsent",
        10,
        _present("gateway", "writer", "retriever"),
        _present("gateway", "writer", "retriever", "lifecycle"),
    ),
    *_both(
        "RearviewDependencyDown",
        10,
        {f'{G}_dependency_up{{dependency="postgresql"}}': "0x60"},
        {f'{G}_dependency_up{{dependency="postgresql"}}': "0x3 1x57"},
    ),
    *_both(
        "RearviewPoolExhausted",
        10,
        {f'{R}_pool_waiting{{pool="postgresql"}}': "3x60"},
        {f'{R}_pool_waiting{{pool="postgresql"}}': "3 0 3 0 3 0 3 0 3 0 0 0"},
    ),
    *_both(
        "RearviewPoolFailing",
        20,
        {f'{W}_pool_failures_total{{pool="redis"}}': "0+60x60"},
        {f'{W}_pool_failures_total{{pool="redis"}}': "0+1x60"},
    ),
    *_both(
        "RearviewCallsShed",
        30,
        {f'{G}_calls_shed_total{{cause="waited"}}': "0+60x60"},
        {f'{G}_calls_shed_total{{cause="waited"}}': "0+60x4 240x56"},
    ),
    *_both(
        "RearviewQueueStalled",
        20,
        {f'{L}_queue_oldest_seconds{{task="index_session"}}': "0+60x60"},
        {f'{L}_queue_oldest_seconds{{task="index_session"}}': "200x60"},
    ),
    *_both(
        "RearviewDeadLetters",
        30,
        {f'{L}_dead_letters{{task="purge"}}': "2x60"},
        {f'{L}_dead_letters{{task="purge"}}': "2x9 0x50"},
    ),
    *_both(
        "RearviewJobsFailing",
        40,
        {
            f'{W}_job_attempts_total{{task="index_session", outcome="failed"}}': "0+8x60",
            f'{W}_job_attempts_total{{task="index_session", outcome="ok"}}': "0+2x60",
        },
        {
            f'{W}_job_attempts_total{{task="index_session", outcome="failed"}}': "0+2x60",
            f'{W}_job_attempts_total{{task="index_session", outcome="ok"}}': "0+8x60",
        },
    ),
    *_both(
        "RearviewRoundsFailing",
        55,
        {
            f'{L}_rounds_total{{round="expire", outcome="failed"}}': "0+1x60",
            f'{L}_rounds_total{{round="expire", outcome="ok"}}': "4x60",
        },
        {
            f'{L}_rounds_total{{round="expire", outcome="failed"}}': "0+1x60",
            f'{L}_rounds_total{{round="expire", outcome="ok"}}': "0+1x60",
        },
    ),
    *_both(
        "RearviewIndexRecallLow",
        400,
        {
            f'{R}_recall_index_vs_exact_sum{{k="10"}}': "0+0.8x420",
            f'{R}_recall_index_vs_exact_count{{k="10"}}': "0+1x420",
        },
        {
            f'{R}_recall_index_vs_exact_sum{{k="10"}}': "0+0.98x420",
            f'{R}_recall_index_vs_exact_count{{k="10"}}': "0+1x420",
        },
    ),
    # A handful of samples says nothing.
    Case(
        "RearviewIndexRecallLow",
        {
            f'{R}_recall_index_vs_exact_sum{{k="10"}}': "0+0.008x420",
            f'{R}_recall_index_vs_exact_count{{k="10"}}': "0+0.01x420",
        },
        400,
        False,
    ),
    *_both(
        "RearviewRecallDegraded",
        40,
        {
            f'{R}_recall_degraded_total{{part="working_memory"}}': "0+10x60",
            f"{R}_recall_returned_count": "0+100x60",
        },
        {f'{R}_recall_degraded_total{{part="working_memory"}}': "0+1x60", f"{R}_recall_returned_count": "0+100x60"},
    ),
    *_both(
        "RearviewEmbeddingFailing",
        30,
        {
            f'{G}_query_embeddings_total{{outcome="embedded"}}': "0+80x60",
            f'{G}_query_embeddings_total{{outcome="too_slow"}}': "0+20x60",
        },
        {
            f'{G}_query_embeddings_total{{outcome="embedded"}}': "0+99x60",
            f'{G}_query_embeddings_total{{outcome="too_slow"}}': "0+1x60",
        },
    ),
    *_both(
        "RearviewCacheOff",
        40,
        {
            f'{G}_cache_lookups_total{{outcome="off"}}': "0+20x60",
            f'{G}_cache_lookups_total{{outcome="miss"}}': "0+80x60",
        },
        {
            f'{G}_cache_lookups_total{{outcome="off"}}': "0x60",
            f'{G}_cache_lookups_total{{outcome="miss"}}': "0+80x60",
        },
    ),
    *_both(
        "RearviewSideEffectsLost",
        40,
        {f'{R}_side_effects_lost_total{{kind="trace"}}': "0+60x60"},
        {f'{R}_side_effects_lost_total{{kind="trace"}}': "0+1x60"},
    ),
    *_both(
        "RearviewCredentialsRefused",
        30,
        {
            f'{G}_refusals_total{{reason="CREDENTIAL_INVALID"}}': "0+600x60",
            f'{G}_requests_total{{method="Recall", code="UNAUTHENTICATED"}}': "0+600x60",
            f'{G}_requests_total{{method="Recall", code="OK"}}': "0+60x60",
        },
        # One agent with an old key among many others.
        {
            f'{G}_refusals_total{{reason="CREDENTIAL_INVALID"}}': "0+600x60",
            f'{G}_requests_total{{method="Recall", code="UNAUTHENTICATED"}}': "0+600x60",
            f'{G}_requests_total{{method="Recall", code="OK"}}': "0+6000x60",
        },
    ),
    *_both(
        "RearviewIdentityRefused",
        20,
        {f'{R}_refusals_total{{reason="CREDENTIAL_INVALID"}}': "0+1x60"},
        {f'{R}_refusals_total{{reason="RESOURCE_NOT_FOUND"}}': "0+1x60"},
    ),
    *_both(
        "RearviewAuditSealBroken",
        30,
        {f"{L}_audit_seals_broken_total": "0x20 1x40"},
        {f"{L}_audit_seals_broken_total": "0x60", f"{L}_audit_records_sealed_total": "0+9x60"},
    ),
    *_both(
        "RearviewMcpFailing",
        30,
        {
            f'{M}_tool_calls_total{{tool="memory_search", outcome="DEPENDENCY_UNAVAILABLE"}}': "0+2x60",
            f'{M}_tool_calls_total{{tool="memory_search", outcome="OK"}}': "0+8x60",
        },
        {
            f'{M}_tool_calls_total{{tool="memory_search", outcome="INVALID_FIELD"}}': "0+2x60",
            f'{M}_tool_calls_total{{tool="memory_search", outcome="OK"}}': "0+8x60",
        },
    ),
]


@dataclass(frozen=True, slots=True)
class Burning:
    """How many times as many bad calls there are as the budget allows, from the start, and who has fired by then."""

    times: float
    minute: int
    fires: frozenset[str]


SPEEDS = ("Fast", "Quick", "Steady", "Slow")
BURNS = (
    # Much at once: told within minutes, though a new series has no six hours yet that it could be an average of.
    Burning(30.0, 10, frozenset(("Fast",))),
    Burning(8.0, 300, frozenset(("Quick", "Steady", "Slow"))),
    Burning(2.0, 1_900, frozenset(("Slow",))),
    Burning(0.5, 1_900, frozenset()),
)


def _calls(objective: Objective, times: float, minutes: int) -> dict[str, str]:
    every = 10_000
    bad = round(every * times * (1 - objective.objective))
    if objective.name == "availability":
        return {
            f'{G}_requests_total{{method="Recall", code="OK"}}': f"0+{every - bad}x{minutes}",
            f'{G}_requests_total{{method="Recall", code="UNAVAILABLE"}}': f"0+{bad}x{minutes}",
            # No error of the platform's.
            f'{G}_requests_total{{method="GetMemory", code="NOT_FOUND"}}': f"0+1x{minutes}",
        }
    method, bound = {"recall_latency": ("Recall", "0.5"), "append_latency": ("AppendEvents", "0.25")}[objective.name]
    return {
        f'{G}_request_seconds_count{{method="{method}"}}': f"0+{every}x{minutes}",
        f'{G}_request_seconds_bucket{{method="{method}", le="{bound}"}}': f"0+{every - bad}x{minutes}",
        f'{G}_request_seconds_count{{method="ListMemories"}}': f"0+{every}x{minutes}",
    }


def _tested(folder: Path, files: Iterable[Path], tests: list[dict[str, object]], evaluated: str = "1m") -> None:
    path, files = folder / "tests.yaml", list(files)
    # Without an order promtool goes by chance, and an alert that is looked at before what it is recorded from finds
    # nothing: the sample of a step before is too old.
    order = [group["name"] for file in files for group in yaml.safe_load(file.read_text("utf-8"))["groups"]]
    content = {
        "rule_files": [str(file) for file in files],
        "evaluation_interval": evaluated,
        "group_eval_order": order,
        "tests": tests,
    }
    path.write_text(yaml.safe_dump(content), "utf-8")
    ended = promtool("test", "rules", path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def _test(name: str, series: Mapping[str, str], minute: int, expected: Mapping[str, bool]) -> dict[str, object]:
    """A test of whether alerts, by their names, have fired at a minute."""
    looks = [
        {
            "expr": f'count by (alertname) (ALERTS{{alertname="{alert}", alertstate="firing"}})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1}] if fires else [],
        }
        for alert, fires in expected.items()
    ]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "promql_expr_test": looks,
    }


def test_rules_are_rules() -> None:
    ended = promtool("check", "rules", "--lint=all", "--lint-fatal", *sorted(RULES.glob("*.yaml")))
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_configuration_of_compose_is_one(tmp_path: Path) -> None:
    text = (RULES.parents[2] / "docker" / "prometheus.yaml").read_text("utf-8")
    (tmp_path / "prometheus.yaml").write_text(text.replace("/etc/prometheus/rules", str(RULES)), "utf-8")
    ended = promtool("check", "config", tmp_path / "prometheus.yaml")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_expression_parses(tmp_path: Path) -> None:
    """As rules that promtool reads: it has no command of its own for an expression."""
    found: list[Expression] = [*of_panels(), *of_rules()]
    rules = [{"record": f"checked:{at}", "expr": each.text} for at, each in enumerate(found)]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}), "utf-8")
    ended = promtool("check", "rules", "--lint=none", path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_alert_is_tested_both_ways() -> None:
    named = {alert["alert"] for alert in alerts() if "slo" not in alert["labels"]}
    assert {case.alert for case in CASES if case.fires} == named
    assert {case.alert for case in CASES if not case.fires} == named


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    _tested(
        tmp_path,
        [path for path in RULES.glob("*.yaml") if path != SERVICE_LEVELS],
        [_test(f"{each.alert}: {each.fires}", each.series, each.minute, {each.alert: each.fires}) for each in CASES],
    )


@pytest.mark.parametrize("burning", BURNS, ids=lambda burning: f"{burning.times:g} times")
def test_a_budget_that_burns_is_told_as_fast_as_it_burns(burning: Burning, tmp_path: Path) -> None:
    _tested(
        tmp_path,
        [SERVICE_LEVELS],
        [
            _test(
                objective.name,
                _calls(objective, burning.times, burning.minute + 10),
                burning.minute,
                {f"{objective.alert}{speed}Burn": speed in burning.fires for speed in SPEEDS},
            )
            for objective in OBJECTIVES
        ],
        # Days are played in steps; minutes as they are.
        "1m" if burning.minute < 60 else "20m",
    )
