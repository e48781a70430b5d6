"""Fixtures of the lifecycle's tests."""

from tests.support.lifecycle_bench import lifecycle
from tests.support.model_fixtures import e5_folder, models_dir
from tests.support.tier_bench import tiers
from tests.support.writer_fixtures import real_embedder

__all__ = ["e5_folder", "lifecycle", "models_dir", "real_embedder", "tiers"]
