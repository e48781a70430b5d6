"""What is to be known of a model before it is measured: its name, its kind, its weights, its dimension, its prompts."""

import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path

from rearview.adapters.models import use_embedder
from rearview.adapters.models.calibration import Calibration, Progress, calibrate
from rearview.adapters.models.calibration_sample import load_sample
from rearview.adapters.models.cards import described_prompts, load_card
from rearview.adapters.models.registry import DEFAULT_MODEL, EmbedderSettings, open_raw_embedder
from rearview.domain.embedding_errors import InvalidModelInput, UnknownModel
from rearview.domain.generation import ModelCard, Prompts

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_CHUNK_BYTES = 1 << 20


async def calibrate_model(
    model: str, models_dir: Path, *, prompts: Prompts | None = None, progress: Progress = lambda _: None
) -> Calibration:
    """Measure a model that a package brings, or any in a sentence-transformers folder, and return its card.

    A model whose card is shipped or was made before keeps that card's name, prompts and mean vector, so that what it
    embedded stays valid: only its thresholds are new.

    Args:
        model: the name of a model that a package brings, or a folder, whose own name is the model's.
        models_dir: where the default model is built and kept.
        prompts: what is put before queries and passages; by default what the model's card says, else nothing.
        progress: is told each step.

    Raises:
        InvalidModelInput: the folder holds no model.
        UnknownModel: there is neither a card nor a folder of that name.
        ModelNotInstalled: a package or file of the model is absent.
    """
    blank, settings = await asyncio.to_thread(_unmeasured, model, models_dir, prompts)
    progress("opening the model")
    embedder = open_raw_embedder(settings, blank)
    try:
        measured = await calibrate(embedder, load_sample(), progress)
    finally:
        await embedder.close()
    if model == DEFAULT_MODEL and prompts is None:
        return Calibration(replace(measured.card, mean_passage=load_card(model).mean_passage), measured.figures)
    return measured


def _unmeasured(model: str, models_dir: Path, prompts: Prompts | None) -> tuple[ModelCard, EmbedderSettings]:
    folder = Path(model).expanduser()
    if model == DEFAULT_MODEL:
        known = load_card(model)
        blank = ModelCard.uncalibrated(model, known.revision, known.dimension, prompts or known.prompts)
        settings = EmbedderSettings(models_dir=models_dir)
    elif model == use_embedder.MODEL_NAME:
        given = prompts or described_prompts(model) or Prompts("", "")
        blank = ModelCard.uncalibrated(model, use_embedder.use_revision(), use_embedder.DIMENSION, given)
        settings = EmbedderSettings(kind="use", model=model)
    elif folder.is_dir():
        name = folder.resolve().name
        given = prompts or described_prompts(name) or Prompts("", "")
        blank = ModelCard.uncalibrated(name, _revision(folder), _dimension(folder), given)
        settings = EmbedderSettings(kind="sentence-transformers", model=name, source=str(folder), models_dir=models_dir)
    else:
        raise UnknownModel(
            f"{model!r} is neither {DEFAULT_MODEL} nor {use_embedder.MODEL_NAME} nor a folder with a model"
        )
    return blank, settings


def _revision(folder: Path) -> str:
    for name in _WEIGHTS:
        weights = folder / name
        if weights.is_file():
            digest = hashlib.sha256()
            with weights.open("rb") as opened:
                while chunk := opened.read(_CHUNK_BYTES):
                    digest.update(chunk)
            return f"sha256:{digest.hexdigest()[:16]}"
    raise InvalidModelInput("model", f"{folder} holds none of {', '.join(_WEIGHTS)}")


def _dimension(folder: Path) -> int:
    for name, key in (("1_Pooling/config.json", "word_embedding_dimension"), ("config.json", "hidden_size")):
        described = folder / name
        if described.is_file():
            value = json.loads(described.read_text(encoding="utf-8")).get(key)
            if isinstance(value, int):
                return value
    raise InvalidModelInput("model", f"{folder} does not say how long its vectors are")
