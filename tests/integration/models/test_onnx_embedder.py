"""The default embedder: precision, independence of batches, and the thread behind it."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.models.e5_build import GRAPH_FILE
from rearview.adapters.models.onnx_embedder import OnnxEmbedder
from rearview.adapters.models.sentence_transformers_embedder import SentenceTransformersEmbedder
from rearview.domain.embedding_errors import InvalidModelInput, ModelMismatch, ModelNotInstalled
from rearview.domain.generation import EmbeddingGeneration, ModelCard
from tests.support.bilingual_texts import ALL, CHINESE, ENGLISH


async def test_int8_stands_for_the_torch_model(e5_folder: Path, e5_torch_folder: Path, card: ModelCard) -> None:
    """The claim behind one generation for int8 and float32: raw and centred cosines above .99."""
    int8 = OnnxEmbedder(e5_folder, card)
    torch = SentenceTransformersEmbedder(str(e5_torch_folder), card)
    generation = EmbeddingGeneration(card)
    for ours, theirs in (
        (await int8.embed_passages(ALL), await torch.embed_passages(ALL)),
        (
            np.stack([await int8.embed_query(text) for text in ALL]),
            np.stack([await torch.embed_query(text) for text in ALL]),
        ),
    ):
        assert (ours * theirs).sum(axis=1).min() > 0.99
        assert (generation.centre(ours) * generation.centre(theirs)).sum(axis=1).min() > 0.985
    await int8.close()
    await torch.close()


@pytest.mark.parametrize(("threads", "max_batch_tokens"), [(1, 512), (2, 512), (1, 64), (1, 20_000)])
async def test_no_batch_moves_a_vector(e5_folder: Path, card: ModelCard, threads: int, max_batch_tokens: int) -> None:
    """Rows are quantised one by one and padding is masked, so any batch gives the same numbers."""
    embedder = OnnxEmbedder(e5_folder, card, threads=threads, max_batch_tokens=max_batch_tokens)
    texts = [*ALL[::4], CHINESE[0] * 6, ENGLISH[0] * 12]
    alone = np.concatenate([await embedder.embed_passages([text]) for text in texts])
    np.testing.assert_allclose(await embedder.embed_passages(texts), alone, atol=1e-5)
    await embedder.close()


async def test_a_query_overtakes_passages(e5_folder: Path, card: ModelCard) -> None:
    embedder = OnnxEmbedder(e5_folder, card, max_batch_tokens=256)
    passages = asyncio.create_task(embedder.embed_passages(ALL * 8))
    await asyncio.sleep(0)
    await embedder.embed_query("先回答我")
    assert not passages.done()
    assert (await passages).shape == (len(ALL) * 8, 384)
    await embedder.close()


async def test_the_event_loop_stays_free(e5_folder: Path, card: ModelCard) -> None:
    embedder = OnnxEmbedder(e5_folder, card, max_batch_tokens=100_000)
    passages = asyncio.create_task(embedder.embed_passages(ALL * 4))
    turns = 0
    while not passages.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 10
    await embedder.close()


async def test_a_cancelled_call_leaves_the_model_usable(e5_folder: Path, card: ModelCard) -> None:
    embedder = OnnxEmbedder(e5_folder, card, max_batch_tokens=256)
    passages = asyncio.create_task(embedder.embed_passages(ALL * 4))
    await asyncio.sleep(0.01)
    passages.cancel()
    assert (await embedder.embed_query("还在吗")).shape == (384,)
    await embedder.close()


def test_another_revision_is_refused(e5_folder: Path, card: ModelCard) -> None:
    with pytest.raises(ModelMismatch, match="revision"):
        OnnxEmbedder(e5_folder, replace(card, revision="sha256:other"))


def test_absent_and_damaged_folders_are_refused(e5_folder: Path, card: ModelCard, tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled):
        OnnxEmbedder(tmp_path / "absent", card)
    damaged = shutil.copytree(e5_folder, tmp_path / "damaged")
    (damaged / GRAPH_FILE).write_bytes(b"cut short")
    with pytest.raises(ModelNotInstalled, match="complete"):
        OnnxEmbedder(damaged, card)


@pytest.mark.parametrize("bad", [{"threads": 0}, {"max_batch_tokens": 0}])
def test_senseless_bounds_are_refused(e5_folder: Path, card: ModelCard, bad: dict[str, int]) -> None:
    with pytest.raises(InvalidModelInput, match=next(iter(bad))):
        OnnxEmbedder(e5_folder, card, **bad)
