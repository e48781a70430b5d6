"""The scenarios of scenarios.yaml, and the shape that they give a run."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from locust import LoadTestShape
from locust.env import Environment
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

SCENARIOS = Path(__file__).parent / "scenarios.yaml"
DEFAULT_SCENARIO = "smoke"


class Stage(BaseModel):
    """So many users for so long, reached at so many a second."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: Annotated[float, Field(gt=0)]
    users: Annotated[int, Field(gt=0)]
    spawn_rate: Annotated[float, Field(gt=0)]


class Scenario(BaseModel):
    """Stages one after the other; an agent thinks between `think_seconds[0]` and `[1]` between two calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    think_seconds: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
    stages: Annotated[list[Stage], Field(min_length=1)]

    def stage_at(self, seconds: float) -> Stage | None:
        """Return the stage that runs so long after the start; None when all are over."""
        for stage in self.stages:
            if seconds < stage.seconds:
                return stage
            seconds -= stage.seconds
        return None


@cache
def scenarios() -> Mapping[str, Scenario]:
    """Return the scenarios by name. Raises: ValidationError: the file is not as its first lines say."""
    return TypeAdapter(dict[str, Scenario]).validate_python(yaml.safe_load(SCENARIOS.read_text(encoding="utf-8")))


def scenario_of(environment: Environment) -> Scenario:
    """Return the scenario that was chosen on the command line."""
    return scenarios()[environment.parsed_options.scenario]


class Stages(LoadTestShape):
    """Follows the chosen scenario's stages, then ends the run."""

    def tick(self) -> tuple[int, float] | None:
        """Return how many users there shall be and how fast to get there; None at the end."""
        stage = scenario_of(self.runner.environment).stage_at(self.get_run_time())
        return (stage.users, stage.spawn_rate) if stage else None
