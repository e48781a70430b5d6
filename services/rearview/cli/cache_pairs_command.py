"""`rearview eval cache-pairs`: which queries would share a cached answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.cli.output import JsonOption, failures, print_figures
from rearview.embedded.paths import DataFolder

if TYPE_CHECKING:
    from rearview.evaluation.cache_pairs import QueryPair


def register(commands: typer.Typer) -> None:
    """Add the command of this file."""
    commands.command()(cache_pairs)


def cache_pairs(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Pairs (TSV: label 1 or 0, query, query, kind); without it the held-out half of the shipped set.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    cosine: Annotated[
        float | None,
        typer.Option(help="Least similarity of centred vectors; as the model was calibrated unless given."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Which queries would share a cached answer: the gateway's rule, with the default model, in this process.

    hit_rate is the share among pairs that ask the same, false_hit_rate that among those that do not, with the bound
    below which it lies with 95 % confidence. cosine_alone has the same figures for a raw cosine above 0.95 and no more.

    Example:

      rearview eval cache-pairs pairs.tsv --json
    """
    from rearview.evaluation.cache_pairs import read_query_pairs

    with failures(as_json):
        pairs = read_query_pairs(file)
        models = DataFolder.choose(None, os.environ).models
        figures = asyncio.run(_cache_figures(pairs, models, cosine))
    print_figures(figures, as_json)


async def _cache_figures(pairs: Sequence[QueryPair], models: Path, cosine: float | None) -> dict[str, object]:
    import numpy as np

    from rearview.adapters.models.e5_build import build_e5
    from rearview.adapters.models.registry import embedder_settings, open_embedder
    from rearview.domain.generation import normalise_rows
    from rearview.evaluation.cache_pairs import EmbeddedTexts, evaluate_cache_pairs
    from rearview.language.canonical_text import canonical_query

    build_e5(models)
    embedder = open_embedder(embedder_settings("onnx:multilingual-e5-small", models, None, None))
    try:
        texts = sorted({text for pair in pairs for text in (pair.one, pair.other)})
        raw = normalise_rows(np.stack([await embedder.embed_query(text) for text in texts]))
        vectors = EmbeddedTexts(raw, embedder.generation.centre(raw))
        threshold = embedder.generation.thresholds.cache_cosine if cosine is None else cosine
        return evaluate_cache_pairs(pairs, canonical_query, lambda _: vectors, threshold)
    finally:
        await embedder.close()
