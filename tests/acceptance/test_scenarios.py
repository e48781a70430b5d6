"""The memory test set that ships with the product, as `rearview eval scenarios` plays it."""

from __future__ import annotations

import pytest

from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.scenarios.files import ScenarioFile, read_scenarios
from rearview.evaluation.scenarios.run import play
from rearview.evaluation.scenarios.stage import Theatre
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS


@pytest.mark.parametrize("file", read_scenarios(None), ids=lambda file: file.name)
def test_scenario(endpoints: Endpoints, admin: Client, operator: Client, file: ScenarioFile) -> None:
    gateway = endpoints.gateway
    assert gateway is not None
    theatre = Theatre(admin, operator, lambda key: Client.connect(gateway, key, timeout_seconds=CALL_TIMEOUT_SECONDS))
    assert play(theatre, file).broken == ()
