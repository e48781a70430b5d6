"""Fixtures of the writer's tests."""

from tests.support.model_fixtures import models_dir
from tests.support.writer_fixtures import bench, real_embedder, scope, writer_config

__all__ = ["bench", "models_dir", "real_embedder", "scope", "writer_config"]
