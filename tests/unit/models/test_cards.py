"""Model cards and the sample they are measured on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.models.calibration import Calibration
from rearview.adapters.models.calibration_sample import load_sample
from rearview.adapters.models.cards import described_prompts, known_models, load_card, save_card
from rearview.domain.embedding_errors import ModelMismatch, UnknownModel
from rearview.domain.generation import EmbeddingGeneration


def test_shipped_card_is_complete() -> None:
    card = load_card("multilingual-e5-small")
    assert card.dimension == 384
    assert card.prompts.query == "query: "
    assert card.prompts.passage == "passage: "
    assert 0.8 < np.linalg.norm(card.mean_passage) < 0.95
    assert card.probes is not None
    assert len(card.probes.texts) == 8
    thresholds = card.thresholds
    assert thresholds.segment_boundary_cosine < thresholds.redundant_cosine < thresholds.duplicate_cosine


def test_unknown_model_says_what_to_do() -> None:
    with pytest.raises(UnknownModel, match=r"'some/model'.*multilingual-e5-small.*rearview calibrate"):
        load_card("some/model")


def test_card_survives_writing_and_reading(tmp_path: Path) -> None:
    card = replace(load_card("multilingual-e5-small"), model_name="owner/model-中文", revision="r2")
    save_card(Calibration(card, {"mean_length": 0.9}), tmp_path)
    read = load_card("owner/model-中文", tmp_path)
    assert EmbeddingGeneration(read) == EmbeddingGeneration(card)
    assert read.thresholds == card.thresholds
    shipped = ["multilingual-e5-small", "universal-sentence-encoder-multilingual"]
    assert known_models(tmp_path) == sorted([*shipped, "owner/model-中文"])


def test_own_card_comes_before_the_shipped_one(tmp_path: Path) -> None:
    card = replace(load_card("multilingual-e5-small"), revision="mine")
    save_card(Calibration(card, {}), tmp_path)
    assert load_card("multilingual-e5-small", tmp_path).revision == "mine"


def test_uncalibrated_card_is_not_saved(tmp_path: Path) -> None:
    card = replace(load_card("multilingual-e5-small"), probes=None)
    with pytest.raises(ModelMismatch, match="calibrate"):
        save_card(Calibration(card, {}), tmp_path)


@pytest.mark.parametrize("content", ["", "model_name: x", "- 1", "a: [", "model_name: x\nprompts: 3"])
def test_damaged_card_is_named(tmp_path: Path, content: str) -> None:
    save_card(Calibration(load_card("multilingual-e5-small"), {}), tmp_path)
    (tmp_path / "multilingual-e5-small.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(ModelMismatch, match=r"multilingual-e5-small\.yaml"):
        load_card("multilingual-e5-small", tmp_path)


def test_card_without_its_arrays_is_named(tmp_path: Path) -> None:
    save_card(Calibration(load_card("multilingual-e5-small"), {}), tmp_path)
    (tmp_path / "multilingual-e5-small.npz").unlink()
    with pytest.raises(ModelMismatch, match=r"multilingual-e5-small\.yaml"):
        load_card("multilingual-e5-small", tmp_path)


def test_sample_has_both_languages_in_equal_parts() -> None:
    sample = load_sample()
    assert len(sample.positions("zh")) == len(sample.positions("en")) == 120
    assert len(set(sample.texts())) == 240
    assert len(sample.translations()) == 48
    assert len(sample.contrasts) == 40
    assert len(sample.dialogues) == 20
    for language in ("zh", "en"):
        assert len(sample.same_statement(language)) == 20


def test_sample_passages_are_whole_sentences_of_their_language() -> None:
    """Unquoted punctuation in the data file would cut a sentence short."""
    for passage in load_sample().passages:
        assert passage.text.endswith("。" if passage.language == "zh" else ".")
        is_chinese = any("\u4e00" <= character <= "\u9fff" for character in passage.text)
        assert is_chinese == (passage.language == "zh")


@pytest.mark.parametrize("name", ["BAAI/bge-small-zh-v1.5", "BAAI/bge-m3"])
def test_card_that_was_not_measured_says_so(name: str) -> None:
    with pytest.raises(UnknownModel, match=r"no measurements .*rearview calibrate"):
        load_card(name)
    assert name not in known_models()
    assert described_prompts(name) is not None
