"""Lifecycle policies as columns: in the order of `LifecycleValues`, `expire_after` as seconds by a type's number."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from rearview.domain.lifecycle_policy import LifecycleValues
from rearview.domain.memory import MemoryType


def lifecycle_parameters(values: LifecycleValues) -> dict[str, Any]:
    """Return the values by the names of their columns."""
    ages = values.expire_after
    stored = None if ages is None else Jsonb({str(int(kind)): age.total_seconds() for kind, age in ages.items()})
    return {**asdict(values), "expire_after": stored}


def lifecycle_values_of(columns: Sequence[Any]) -> LifecycleValues:
    """Return the values of the columns."""
    warm_after, cold_after, most, floor, ages, *retentions_and_value = columns
    stored = None if ages is None else {MemoryType(int(kind)): timedelta(seconds=age) for kind, age in ages.items()}
    return LifecycleValues(warm_after, cold_after, most, floor, stored, *retentions_and_value)
