"""Real models for the tests of their adapters."""

from tests.support.model_fixtures import card, cross_encoder_folder, e5_folder, e5_torch_folder, models_dir

__all__ = ["card", "cross_encoder_folder", "e5_folder", "e5_torch_folder", "models_dir"]
