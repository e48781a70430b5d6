"""A real Prometheus scrapes a whole stack during two minutes of load by Locust's agents, while what they do not do is
done beside them: every expression has data, and a well stack raises no alert."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import promql_parser
import pytest

from rearview.client import Client
from rearview.domain.errors import RearviewError, Unauthenticated
from rearview.domain.ids import new_id
from rearview.evaluation.bench_tiers import swept
from rearview.evaluation.ingest import fresh_namespace
from tests.monitoring.prometheus import Prometheus, running_prometheus
from tests.support.client_steps import eventually, indexed, namespace_of
from tests.support.expressions import Expression, alerts, of_panels
from tests.support.locust import SPAWNED, load
from tests.support.mcp_adapter import HttpAdapter, over_http
from tests.support.supervised_stack import SupervisedStack, discard

WINDOW = "15m"  # all of the test
LOAD_SECONDS = 120.0
START_SECONDS = 600.0  # of a stack that builds its model first, on a machine that has other work
ROUND_SECONDS = 5.0
SECOND = timedelta(seconds=1)
TURNS = (
    "奶奶的红烧肉要先炒冰糖。",
    "My budget for the sofa is {n} euros.",
    "我的电话是 138{n:08d}，周三 review 改到 Aurora。",
    "ok",
)
# What only something broken makes: these have no series on a stack that is well.
ONLY_WHEN_BROKEN = ("INTERNAL|DEPENDENCY_UNAVAILABLE|DEADLINE_EXCEEDED|OVERLOADED", 'code=~"INTERNAL|UNKNOWN')
# What says that a part of the stack is away, or that work was given up.
NEVER_HERE = {
    *("RearviewServiceAbsent", "RearviewDependencyDown", "RearviewPoolFailing", "RearviewDeadLetters"),
    *(
        "RearviewAuditSealBroken",
        "RearviewIdentityRefused",
        "RearviewRoundsFailing",
        "RearviewJobsFailing",
        "RearviewCacheOff",
    ),
}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="rearview-monitoring-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def stack(place: Path) -> Iterator[SupervisedStack]:
    fast = {"REARVIEW_MEASURE_SECONDS": "1", "REARVIEW_INDEX_SAMPLE_SECONDS": "1"}
    command = ("-m", "rearview.cli", "up", "--foreground")
    stack = SupervisedStack(place / "data", command, environment=fast, wait_seconds=START_SECONDS)
    try:
        yield stack.start()
    finally:
        stack.stop()
        discard(stack.folder.root)


@pytest.fixture(scope="module")
def adapter(stack: SupervisedStack) -> Iterator[HttpAdapter]:
    adapter = HttpAdapter(stack.folder.root)
    try:
        yield adapter.wait()
    finally:
        adapter.stop()


@pytest.fixture(scope="module")
async def prometheus(stack: SupervisedStack, adapter: HttpAdapter, place: Path) -> AsyncIterator[Prometheus]:
    """Prometheus, after it has watched the stack at work."""
    endpoints = stack.endpoints()
    assert endpoints.metrics is not None
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    targets = {**endpoints.metrics, "mcp": adapter.metrics}
    with (
        running_prometheus(place, targets) as server,
        Client.connect(endpoints.gateway, endpoints.admin_key, timeout_seconds=60) as admin,
    ):
        eventually(server.healthy_targets, lambda healthy: healthy == len(targets), "all targets to be scraped")
        client = admin.with_options(namespace=fresh_namespace(admin, "monitoring"))
        log = place / "locust.log"
        with load("--scenario", "rolling", "--endpoints", stack.folder.endpoints_file, log=log) as agents:
            stack.wait_until(lambda: SPAWNED in log.read_bytes(), "the agents to talk")
            until = time.monotonic() + LOAD_SECONDS
            n = 0
            while n < 3 or time.monotonic() < until:
                _work(client, n)
                async with over_http(adapter.url, endpoints.admin_key, namespace=namespace_of(client)) as agent:
                    await agent.call_tool("memory_search", {"query": f"sofa {n}"})
                n += 1
                await asyncio.sleep(ROUND_SECONDS)
            assert agents.poll() is None, log.read_text("utf-8")
        indexed(client)
        _make_cold(client)
        with suppress(Unauthenticated), Client.connect(endpoints.gateway, "rv_nobody", timeout_seconds=30) as nobody:
            nobody.recall("x")
        yield server


def _work(client: Client, n: int) -> None:
    session = client.session(str(new_id()))
    for turn in TURNS:
        session.user(turn.format(n=n))
    session.end()
    client.remember(f"Note {n}: the vet is Dr. Okafor.")
    client.remember(f"Note {n}: the vet is Dr. Okafor.")
    for _ in range(2):
        client.recall(f"红烧肉 sofa {n}", top_k=3)
    session.recall("Aurora")
    with suppress(RearviewError):
        client.with_options(namespace="nobody-s").recall("x")


def _make_cold(client: Client) -> None:
    client.update_namespace_policy(warm_after=SECOND, cold_after=SECOND)
    time.sleep(1.2)  # what was just written is in use
    swept(client, namespace_of(client))
    client.recall("红烧肉", include_cold=True, no_cache=True)


def test_every_panel_has_data(prometheus: Prometheus) -> None:
    panels = [each for each in of_panels(WINDOW) if not _only_when_broken(each)]

    def empty() -> list[str]:
        return [str(each) for each in panels if not prometheus.query(each.text)]

    # Tenants are told by whole minutes, and the rules of service levels are looked at twice a minute.
    eventually(empty, lambda names: not names, "data for every panel")


def test_every_series_that_an_alert_looks_at_is_there(prometheus: Prometheus) -> None:
    missing = [
        f"{alert['alert']}: {selector}"
        for alert in alerts()
        for selector in _selectors(alert["expr"])
        if not any(word in selector for word in ONLY_WHEN_BROKEN) and not prometheus.query(selector)
    ]
    assert not missing, "\n".join(missing)


def test_a_stack_that_is_well_raises_no_alert_of_what_is_away(prometheus: Prometheus) -> None:
    assert prometheus.alerts() & NEVER_HERE == set()


def _only_when_broken(expression: Expression) -> bool:
    return any(word in expression.text for word in ONLY_WHEN_BROKEN) and " or vector(0)" not in expression.text


def _selectors(expression: str) -> list[str]:
    found: list[str] = []

    def note(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.MatrixSelector):
            found.append(str(node.vector_selector))
        elif isinstance(node, promql_parser.VectorSelector):
            found.append(str(node))

    promql_parser.walk(promql_parser.parse(expression), note)
    return found
