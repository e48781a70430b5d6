"""Calibrating a real model, and recognising it afterwards."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.models.calibration import calibrate
from rearview.adapters.models.calibration_sample import load_sample
from rearview.adapters.models.onnx_embedder import OnnxEmbedder
from rearview.adapters.models.sentence_transformers_embedder import SentenceTransformersEmbedder
from rearview.adapters.models.verified_embedder import VerifiedEmbedder
from rearview.domain.embedding_errors import ModelMismatch
from rearview.domain.generation import EmbeddingGeneration, ModelCard, Prompts


async def test_the_shipped_card_can_be_measured_again(e5_folder: Path, card: ModelCard) -> None:
    blank = ModelCard.uncalibrated(card.model_name, card.revision, card.dimension, card.prompts)
    embedder = OnnxEmbedder(e5_folder, blank, threads=2)
    measured = await calibrate(embedder, load_sample())
    await embedder.close()
    np.testing.assert_allclose(measured.card.mean_passage, card.mean_passage, atol=1e-3)
    for name in card.thresholds.__slots__:
        assert getattr(measured.card.thresholds, name) == pytest.approx(getattr(card.thresholds, name), abs=0.01)
    assert measured.card.probes is not None
    assert measured.figures["zh_same_median"] > measured.figures["zh_topic_median"] > 0.2


async def test_centring_spreads_the_narrow_cone(e5_folder: Path, card: ModelCard) -> None:
    """Unrelated texts score about .8 raw; the thresholds rest on centring having removed that."""
    embedder = OnnxEmbedder(e5_folder, card)
    sample = load_sample()
    raw = await embedder.embed_passages(sample.texts())
    centred = EmbeddingGeneration(card).centre(raw)
    left, right = np.array(sample.unrelated("zh")).T
    assert np.median((raw[left] * raw[right]).sum(axis=1)) > 0.8
    assert np.median((centred[left] * centred[right]).sum(axis=1)) < 0.3
    await embedder.close()


async def test_another_runtime_of_the_same_weights_is_recognised(e5_torch_folder: Path, card: ModelCard) -> None:
    embedder = VerifiedEmbedder(SentenceTransformersEmbedder(str(e5_torch_folder), card))
    assert (await embedder.embed_query("你好")).shape == (384,)
    await embedder.close()


@pytest.mark.parametrize("prompts", [Prompts("", ""), Prompts("passage: ", "query: "), Prompts("query: ", "")])
async def test_wrong_prompts_are_noticed(e5_folder: Path, card: ModelCard, prompts: Prompts) -> None:
    embedder = VerifiedEmbedder(OnnxEmbedder(e5_folder, replace(card, prompts=prompts)))
    with pytest.raises(ModelMismatch, match="probe"):
        await embedder.embed_passages(["你好"])
    with pytest.raises(ModelMismatch, match="probe"):
        await embedder.embed_query("你好")
    await embedder.close()
