"""A tiny cross-encoder with random weights: it exercises loading and scoring, never relevance."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

from tests.support.torch_tokenizer import save_tokenizer

_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def tiny_cross_encoder_folder(folder: Path, *, labels: int = 1) -> Path:
    """Write the model into the folder and return it."""
    characters = [chr(code) for code in range(0x21, 0x7F)] + list("我你他在上海北京记得喜欢花生过敏的了是")
    pieces = [(piece, 0.0) for piece in _SPECIAL] + [(piece, -1.0) for piece in ["▁", *characters]]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=_SPECIAL.index("<unk>")))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    save_tokenizer(tokenizer, folder, max_tokens=512, mask_token="<mask>")
    torch.manual_seed(7)
    XLMRobertaForSequenceClassification(
        XLMRobertaConfig(
            vocab_size=len(pieces),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=514,
            num_labels=labels,  # type: ignore[call-arg]  # accepted by the base configuration
            pad_token_id=1,
        )
    ).save_pretrained(folder)
    return folder
