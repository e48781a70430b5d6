"""Real models for the contract suites."""

from tests.support.model_fixtures import card, e5_folder, e5_torch_folder, models_dir

__all__ = ["card", "e5_folder", "e5_torch_folder", "models_dir"]
