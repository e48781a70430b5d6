"""What the capacity model is asked about: how much is stored, how it is used, and what it runs on."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Factor = Annotated[float, Field(ge=1)]


class Workload(BaseModel):
    """One case. A memory is one turn or note that is searched, as in the benchmarks.

    The shares of tiers are of memories, what is neither hot nor warm is cold. Rates are a day's of a tenant that is
    active that day; `peak_factor` is the busiest hour's over the day's mean. `cores_busy`, `memory_used` and
    `disk_used` say how full a machine may be at the peak; `table_slack` is the space of tables and indexes over what
    lies in them; `object_copies` what the object store writes for each byte. The audit log
    is kept for good; `audit_days` says how much of it is counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenants: Annotated[int, Field(ge=1)] = 10_000_000
    memories: Annotated[int, Field(ge=1)] = 10_000_000_000
    hot_share: Share = 0.05
    warm_share: Share = 0.15

    active_share: Share = 0.1
    turns_per_day: Rate = 20.0
    recalls_per_day: Rate = 20.0
    sessions_per_day: Rate = 2.0
    cached_recalls: Share = 0.25
    cold_recalls: Share = 0.1
    peak_factor: Factor = 3.0
    event_retention_days: Rate = 365.0
    audit_days: Rate = 365.0
    trace_retention_days: Rate = 7.0
    cache_seconds: Rate = 300.0

    table_slack: Factor = 1.3
    database_standbys: Annotated[int, Field(ge=0)] = 1
    node_cores: Positive = 64.0
    node_memory_gib: Positive = 512.0
    node_disk_tib: Positive = 15.0
    shards_per_node: Annotated[int, Field(ge=1)] = 32
    redis_replicas: Annotated[int, Field(ge=0)] = 1
    redis_node_gib: Positive = 64.0
    object_copies: Factor = 1.5
    cores_busy: Annotated[float, Field(gt=0, le=1)] = 0.5
    memory_used: Annotated[float, Field(gt=0, le=1)] = 0.7
    disk_used: Annotated[float, Field(gt=0, le=1)] = 0.7

    @model_validator(mode="after")
    def _tiers_fit(self) -> "Workload":
        if self.hot_share + self.warm_share > 1:
            raise ValueError("hot_share and warm_share are more than 1 together; lower one of them")
        return self


def workload(path: Path | None, given: dict[str, str]) -> Workload:
    """Return the case of a YAML file, of which `given` changes fields by name; without a file, the defaults.

    Raises:
        OSError: there is no such file.
        ValidationError: a field is unknown or out of its bounds.
        ValueError: the file holds no fields.
    """
    content = yaml.safe_load(path.read_text("utf-8")) if path else {}
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no fields; write lines such as `tenants: 1000`")
    return Workload.model_validate({**content, **given})
