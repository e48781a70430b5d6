"""Fixtures of the lifecycle's tests."""

from tests.support.lifecycle_bench import lifecycle
from tests.support.model_fixtures import models_dir
from tests.support.tier_bench import tiers
from tests.support.writer_fixtures import real_embedder

__all__ = ["lifecycle", "models_dir", "real_embedder", "tiers"]
