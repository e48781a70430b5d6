"""Fixtures that give real models; a conftest imports those its tests use."""

import os
from pathlib import Path

import pytest

from rearview.adapters.models.cards import load_card
from rearview.adapters.models.e5_build import build_e5
from rearview.domain.generation import ModelCard
from tests.support.tiny_cross_encoder_folder import tiny_cross_encoder_folder
from tests.support.torch_e5_folder import torch_e5_folder


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """Where models are built once per session."""
    return Path(os.environ["REARVIEW_MODEL_DIR"])


@pytest.fixture(scope="session")
def e5_folder(models_dir: Path) -> Path:
    """The default embedder's ONNX folder."""
    return build_e5(models_dir)


@pytest.fixture(scope="session")
def e5_torch_folder(models_dir: Path) -> Path:
    """The same model as a sentence-transformers folder."""
    return torch_e5_folder(models_dir / "multilingual-e5-small-torch")


@pytest.fixture(scope="session")
def cross_encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random cross-encoder."""
    return tiny_cross_encoder_folder(tmp_path_factory.mktemp("cross-encoder"))


@pytest.fixture(scope="session")
def card() -> ModelCard:
    """The shipped card of the default embedder."""
    return load_card("multilingual-e5-small")
