"""The memory test set that ships with the product, as `rearview eval scenarios` plays it, some scenarios at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.scenarios.files import ScenarioFile, read_scenarios
from rearview.evaluation.scenarios.run import Outcome, play
from rearview.evaluation.scenarios.stage import Theatre
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS

AT_ONCE = 3
"""Much of a scenario is waiting: for the indexing, for a memory's end, for a purge."""
FILES = {file.name: file for file in read_scenarios(None)}


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, endpoints: Endpoints, admin: Client, operator: Client
) -> Iterator[dict[str, Future[Outcome]]]:
    """What becomes of the scenarios that were selected, by name."""
    gateway = endpoints.gateway
    assert gateway is not None
    theatre = Theatre(admin, operator, lambda key: Client.connect(gateway, key, timeout_seconds=CALL_TIMEOUT_SECONDS))
    selected = [_file_of(item) for item in request.session.items if item.path == request.path]
    with ThreadPoolExecutor(AT_ONCE) as theatres:
        yield {file.name: theatres.submit(play, theatre, file) for file in selected}
        theatres.shutdown(cancel_futures=True)


def _file_of(item: pytest.Item) -> ScenarioFile:
    assert isinstance(item, pytest.Function)
    return FILES[str(item.callspec.params["name"])]


@pytest.mark.parametrize("name", FILES)
def test_scenario(outcomes: dict[str, Future[Outcome]], name: str) -> None:
    assert outcomes[name].result().broken == ()
