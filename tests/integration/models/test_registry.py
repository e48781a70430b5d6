"""Opening models by settings."""

import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from rearview.adapters.models.registry import (
    EmbedderKind,
    EmbedderSettings,
    RerankerKind,
    RerankerSettings,
    open_embedder,
    open_reranker,
)
from rearview.domain.embedding_errors import InvalidModelInput, UnknownModel
from rearview.domain.generation import EmbeddingGeneration, ModelCard

SERVICES = Path(__file__).parents[3] / "services"


async def test_default_embedder_opens(models_dir: Path, card: ModelCard) -> None:
    embedder = open_embedder(EmbedderSettings(models_dir=models_dir))
    assert embedder.generation == EmbeddingGeneration(card)
    assert (await embedder.embed_passages(["你好", "hello"])).shape == (2, 384)
    await embedder.close()


@pytest.mark.parametrize("kind", ["sentence-transformers", "flag"])
async def test_torch_kinds_open_a_folder(kind: EmbedderKind, e5_torch_folder: Path, card: ModelCard) -> None:
    embedder = open_embedder(EmbedderSettings(kind=kind, source=str(e5_torch_folder), flag_pooling="mean"))
    assert embedder.generation == EmbeddingGeneration(card)
    assert (await embedder.embed_query("你好")).shape == (384,)
    await embedder.close()


@pytest.mark.parametrize("kind", ["flag", "cross-encoder"])
async def test_rerankers_open_a_folder(kind: RerankerKind, cross_encoder_folder: Path) -> None:
    reranker = open_reranker(RerankerSettings(kind=kind, source=str(cross_encoder_folder)))
    assert reranker is not None
    assert (await reranker.rerank("q", ["p"], budget_seconds=60)).scored == 1
    await reranker.close()


def test_no_reranker_is_none() -> None:
    assert open_reranker(RerankerSettings()) is None


def test_unknown_model_is_refused(models_dir: Path) -> None:
    with pytest.raises(UnknownModel, match="calibrate"):
        open_embedder(EmbedderSettings(kind="sentence-transformers", model="BAAI/bge-small-zh-v1.5"))


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        (EmbedderSettings(kind="http"), "endpoint_url"),
        (EmbedderSettings(kind=cast("EmbedderKind", "magic")), "kind"),
    ],
)
def test_bad_embedder_settings_are_named(settings: EmbedderSettings, field: str) -> None:
    with pytest.raises(InvalidModelInput) as refused:
        open_embedder(settings)
    assert refused.value.field == field


def test_bad_reranker_settings_are_named() -> None:
    with pytest.raises(InvalidModelInput, match="source"):
        open_reranker(RerankerSettings(kind="flag"))
    with pytest.raises(InvalidModelInput, match="kind"):
        open_reranker(RerankerSettings(kind=cast("RerankerKind", "magic"), source="x"))


def test_key_is_not_shown() -> None:
    assert "secret" not in repr(EmbedderSettings(endpoint_api_key="secret"))


def in_fresh_process(statements: str) -> str:
    """Return what the statements print, run where nothing was imported yet."""
    ran = subprocess.run(
        [sys.executable, "-c", statements],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SERVICES)},
    )
    return ran.stdout.strip()


def test_the_default_embedder_needs_no_torch(models_dir: Path, e5_folder: Path) -> None:
    loaded = in_fresh_process(
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from rearview.adapters.models.registry import EmbedderSettings, open_embedder\n"
        f"embedder = open_embedder(EmbedderSettings(models_dir=Path({str(models_dir)!r})))\n"
        "asyncio.run(embedder.embed_query('你好'))\n"
        "print(sorted({'torch', 'transformers', 'onnx', 'httpx'} & set(sys.modules)))"
    )
    assert loaded == "[]"


@pytest.mark.parametrize(
    ("package", "extra", "opening"),
    [
        ("onnxruntime", "onnx", "open_embedder(EmbedderSettings())"),
        ("sentence_transformers", "models", "open_embedder(EmbedderSettings(kind='sentence-transformers'))"),
        ("FlagEmbedding", "models", "open_embedder(EmbedderSettings(kind='flag'))"),
        ("httpx", "server", "open_embedder(EmbedderSettings(kind='http', endpoint_url='http://h/v1'))"),
        ("FlagEmbedding", "models", "open_reranker(RerankerSettings(kind='flag', source='x'))"),
        ("sentence_transformers", "models", "open_reranker(RerankerSettings(kind='cross-encoder', source='x'))"),
    ],
)
def test_absent_package_names_its_extra(package: str, extra: str, opening: str) -> None:
    told = in_fresh_process(
        "import importlib.abc, sys\n"
        "class Absent(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {package!r}:\n"
        "            raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from rearview.adapters.models.registry import *\n"
        "from rearview.domain.embedding_errors import ModelNotInstalled\n"
        f"try:\n    {opening}\n"
        "except ModelNotInstalled as absent:\n    print(absent)"
    )
    assert package in told
    assert f"rearview-memory[{extra}]" in told
