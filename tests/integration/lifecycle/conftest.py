"""Fixtures of the lifecycle's tests."""

from tests.support.lifecycle_bench import lifecycle
from tests.support.tier_bench import tiers

__all__ = ["lifecycle", "tiers"]
