"""A tokenizer in the form that transformers reads from a model's folder."""

from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast


def save_tokenizer(tokenizer: Tokenizer, folder: Path, *, max_tokens: int, mask_token: str | None = None) -> None:
    """Write the tokenizer, with the special tokens of XLM-RoBERTa, into a folder."""
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        cls_token="<s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token=mask_token,
        model_max_length=max_tokens,
    ).save_pretrained(folder)
