"""Model cards as files: YAML for people, one .npz beside it for the vectors."""

from dataclasses import asdict
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rearview.adapters.models.calibration import Calibration
from rearview.domain.embedding_errors import ModelMismatch, UnknownModel
from rearview.domain.generation import ModelCard, Probes, Prompts, Thresholds


def load_card(model_name: str, cards_dir: Path | None = None) -> ModelCard:
    """Return the card of a model, from `cards_dir` or else from those shipped with the package.

    Raises:
        UnknownModel: no card has that name.
        ModelMismatch: the card's files do not make a card.
    """
    for folder in _folders(cards_dir):
        described = folder.joinpath(_stem(model_name) + ".yaml")
        if described.is_file():
            arrays = folder.joinpath(_stem(model_name) + ".npz")
            why = _content(described).get("not_measured")
            if why is not None:
                raise UnknownModel(
                    f"the card of {model_name!r} holds no measurements ({why}); measure it with `rearview calibrate`"
                )
            return _read(described, arrays)
    raise UnknownModel(
        f"no card describes the model {model_name!r} (known: {', '.join(known_models(cards_dir))}); "
        "measure it with `rearview calibrate`"
    )


def described_prompts(model_name: str, cards_dir: Path | None = None) -> Prompts | None:
    """Return the prompts on a model's card, measured or not; None if no card has that name."""
    for folder in _folders(cards_dir):
        described = folder.joinpath(_stem(model_name) + ".yaml")
        if described.is_file():
            return Prompts(**_content(described)["prompts"])
    return None


def known_models(cards_dir: Path | None = None) -> list[str]:
    """Return the names of all models that have a card, sorted."""
    names = {
        entry.name.removesuffix(".yaml").replace("__", "/")
        for folder in _folders(cards_dir)
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml") and folder.joinpath(entry.name.removesuffix(".yaml") + ".npz").is_file()
    }
    return sorted(names)


def save_card(calibration: Calibration, cards_dir: Path) -> Path:
    """Write a calibrated card into a folder and return the path of its YAML file."""
    card = calibration.card
    if card.probes is None:
        raise ModelMismatch(f"the card of {card.model_name} has no probes: calibrate it first")
    cards_dir.mkdir(parents=True, exist_ok=True)
    with (cards_dir / (_stem(card.model_name) + ".npz")).open("wb") as opened:
        arrays = {
            "mean_passage": card.mean_passage,
            "probe_passages": card.probes.passages,
            "probe_queries": card.probes.queries,
        }
        if card.language_means is not None:
            arrays["language_means"] = card.language_means
        np.savez(opened, allow_pickle=False, **arrays)
    described = cards_dir / (_stem(card.model_name) + ".yaml")
    content = {
        "model_name": card.model_name,
        "revision": card.revision,
        "dimension": card.dimension,
        "normalisation": card.normalisation,
        "precision_family": card.precision_family,
        "prompts": asdict(card.prompts),
        "thresholds": asdict(card.thresholds),
        "figures": calibration.figures,
        "probe_texts": list(card.probes.texts),
    }
    described.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=110), encoding="utf-8")
    return described


def _folders(cards_dir: Path | None) -> list[Traversable]:
    shipped = files("rearview.adapters.models").joinpath("cards")
    return [cards_dir, shipped] if cards_dir is not None and cards_dir.is_dir() else [shipped]


def _stem(model_name: str) -> str:
    return model_name.replace("/", "__")


def _content(described: Traversable) -> dict[str, Any]:
    try:
        content = yaml.safe_load(described.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as failure:
        raise ModelMismatch(f"{described.name} is not a model card: {failure}") from failure
    if not isinstance(content, dict):
        raise ModelMismatch(f"{described.name} is not a model card: it holds no fields")
    return content


def _read(described: Traversable, arrays: Traversable) -> ModelCard:
    try:
        content = _content(described)
        with as_file(arrays) as path, np.load(path, allow_pickle=False) as stored:
            return ModelCard(
                model_name=content["model_name"],
                revision=content["revision"],
                dimension=content["dimension"],
                normalisation=content["normalisation"],
                precision_family=content["precision_family"],
                prompts=Prompts(**content["prompts"]),
                mean_passage=stored["mean_passage"],
                thresholds=Thresholds(**content["thresholds"]),
                probes=Probes(tuple(content["probe_texts"]), stored["probe_passages"], stored["probe_queries"]),
                language_means=stored.get("language_means"),
            )
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as failure:
        raise ModelMismatch(f"{described.name} is not a model card: {failure}") from failure
