"""`rearview calibrate`."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rearview.cli.output import DataDirOption, JsonOption, err, failures, print_figures
from rearview.embedded.paths import DataFolder


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(calibrate)


def calibrate(
    model: Annotated[
        str | None,
        typer.Option(
            help="A folder in the format of sentence-transformers, or the name of a model that a package brings; "
            "the built-in model unless given."
        ),
    ] = None,
    query_prompt: Annotated[
        str | None, typer.Option(help="What the model was trained to see before a query; else what its card says.")
    ] = None,
    passage_prompt: Annotated[
        str | None, typer.Option(help="What it was trained to see before a passage; else what its card says.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the card below the folder of models, where services find it.")
    ] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure an embedding model and make its card: the mean vector, what each language adds, and thresholds.

    Unrelated texts score 0.1 on one model and 0.8 on another, so every threshold belongs to a model. They are measured
    on Chinese and English passages, paraphrases, contrasts and short talks that are shipped. Runs in this process; no
    stack is needed. The built-in model keeps its mean vector, so nothing has to be embedded again.

    Example:

      rearview calibrate --model ./models/bge-small-zh-v1.5 --write --json
    """
    from rearview.adapters.models.cards import save_card
    from rearview.adapters.models.registry import CARDS_FOLDER, DEFAULT_MODEL
    from rearview.adapters.models.uncalibrated import calibrate_model
    from rearview.domain.generation import Prompts

    models = DataFolder.choose(data_dir, os.environ).models
    prompts = None
    if query_prompt is not None or passage_prompt is not None:
        prompts = Prompts(query_prompt or "", passage_prompt or "")
    with failures(as_json):
        with err.status("Calibrating ...") as status:
            measured = asyncio.run(
                calibrate_model(
                    model or DEFAULT_MODEL,
                    models,
                    prompts=prompts,
                    progress=lambda step: status.update(f"Calibrating: {step} ..."),
                )
            )
        path: Path | None = save_card(measured, models / CARDS_FOLDER) if write else None
    figures: dict[str, object] = {
        "model": measured.card.model_name,
        "dimension": measured.card.dimension,
        **asdict(measured.card.thresholds),
        **measured.figures,
        "card": str(path) if path else None,
    }
    print_figures(figures, as_json)
