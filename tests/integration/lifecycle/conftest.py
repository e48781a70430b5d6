"""Fixtures of the lifecycle's tests."""

from tests.support.lifecycle_bench import lifecycle

__all__ = ["lifecycle"]
