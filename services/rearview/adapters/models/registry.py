"""Opens the configured embedder and reranker; the one place that knows every kind."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from rearview.adapters.models.batching_embedder import BatchingEmbedder
from rearview.adapters.models.cards import load_card
from rearview.adapters.models.optional_packages import import_optional
from rearview.adapters.models.verified_embedder import VerifiedEmbedder
from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.generation import ModelCard
from rearview.ports.embedder import Embedder
from rearview.ports.reranker import Reranker

EmbedderKind = Literal["onnx", "sentence-transformers", "flag", "use", "http"]
RerankerKind = Literal["none", "flag", "cross-encoder"]

DEFAULT_MODEL = "multilingual-e5-small"
CARDS_FOLDER = "cards"
"""Below the folder of models: the cards that `rearview calibrate --write` made."""

DEFAULT_MODELS_DIR = Path("~/.cache/rearview/models")


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """Which embedder to open.

    Attributes:
        kind: "onnx" runs the built-in model; "sentence-transformers" and "flag" run any model
            with torch (extra `models`); "use" runs the Universal Sentence Encoder (extra `use`); "http" asks an
            OpenAI-compatible endpoint.
        model: the name on the model's card.
        source: hub name or folder for the torch kinds, the model's name at the endpoint for
            "http"; by default the name on the card.
        models_dir: where "onnx" builds and keeps its model.
        cards_dir: cards made by `rearview calibrate`; they come before those shipped.
        threads: CPU threads of one run.
        device: where torch runs, "cpu" or "cuda:0".
        flag_family: FlagEmbedding's model class, for "flag".
        flag_pooling: how token vectors become one, for "flag".
        endpoint_url: full URL, for "http".
        endpoint_api_key: bearer token, for "http"; never shown.
        endpoint_timeout_seconds: bound of one attempt, for "http".
    """

    kind: EmbedderKind = "onnx"
    model: str = DEFAULT_MODEL
    source: str | None = None
    models_dir: Path = DEFAULT_MODELS_DIR
    cards_dir: Path | None = None
    threads: int = 1
    device: str = "cpu"
    flag_family: Literal["encoder-only-base", "encoder-only-m3"] = "encoder-only-base"
    flag_pooling: Literal["cls", "mean"] = "cls"
    endpoint_url: str | None = None
    endpoint_api_key: str | None = field(default=None, repr=False)
    endpoint_timeout_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """Which reranker to open.

    Attributes:
        kind: "none", "flag" (FlagEmbedding) or "cross-encoder" (sentence-transformers).
        source: hub name or folder.
        threads: CPU threads of one run.
        device: where torch runs, "cpu" or "cuda:0".
    """

    kind: RerankerKind = "none"
    source: str | None = None
    threads: int = 1
    device: str = "cpu"


def embedder_settings(
    embedder: str, models_dir: Path, endpoint_url: str | None = None, endpoint_api_key: str | None = None
) -> EmbedderSettings:
    """Return the settings for an embedder named by kind and model, as `onnx:multilingual-e5-small`.

    Raises:
        InvalidModelInput: there is no such kind.
    """
    kind, _, model = embedder.partition(":")
    if kind not in get_args(EmbedderKind):
        raise InvalidModelInput("kind", f"unknown embedder kind {kind!r}")
    return EmbedderSettings(
        kind=cast("EmbedderKind", kind),
        model=model,
        models_dir=models_dir,
        cards_dir=models_dir / CARDS_FOLDER,
        endpoint_url=endpoint_url,
        endpoint_api_key=endpoint_api_key,
    )


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """Return the configured embedder: verified against its card on first use, and batching.

    Blocks while a model is loaded or, the first time, built (seconds). Close it when done.

    Raises:
        InvalidModelInput: a setting is missing or unusable.
        UnknownModel: the model has no card.
        ModelNotInstalled: a package or file of the model is absent.
        ModelMismatch: the model is not the one on the card.
    """
    return BatchingEmbedder(
        VerifiedEmbedder(open_raw_embedder(settings, load_card(settings.model, settings.cards_dir)))
    )


def open_raw_embedder(settings: EmbedderSettings, card: ModelCard) -> Embedder:
    """Return the embedder alone, under a card given by the caller; for calibrating.

    Raises what `open_embedder` raises.
    """
    # Each kind is imported when asked for: a service installs the extra of its own kind only.
    source = settings.source or settings.model
    match settings.kind:
        case "onnx":
            for package in ("onnxruntime", "tokenizers"):
                import_optional(package, extra="onnx")
            from rearview.adapters.models.e5_build import MODEL_NAME, build_e5
            from rearview.adapters.models.onnx_embedder import OnnxEmbedder

            if settings.model != MODEL_NAME:
                raise InvalidModelInput("model", f"kind 'onnx' runs {MODEL_NAME} only, not {settings.model}")
            return OnnxEmbedder(build_e5(settings.models_dir.expanduser()), card, threads=settings.threads)
        case "sentence-transformers":
            from rearview.adapters.models.sentence_transformers_embedder import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(source, card, device=settings.device, threads=settings.threads)
        case "flag":
            from rearview.adapters.models.flag_embedder import FlagEmbedder

            return FlagEmbedder(
                source,
                card,
                family=settings.flag_family,
                pooling=settings.flag_pooling,
                device=settings.device,
                threads=settings.threads,
            )
        case "use":
            from rearview.adapters.models import use_embedder

            if settings.model != use_embedder.MODEL_NAME:
                raise InvalidModelInput(
                    "model", f"kind 'use' runs {use_embedder.MODEL_NAME} only, not {settings.model}"
                )
            return use_embedder.UseEmbedder(card, threads=settings.threads)
        case "http":
            import_optional("httpx", extra="server")
            from rearview.adapters.models.http_embedder import Endpoint, HttpEmbedder

            if settings.endpoint_url is None:
                raise InvalidModelInput("endpoint_url", "is required for kind 'http'")
            endpoint = Endpoint(
                url=settings.endpoint_url,
                model=source,
                api_key=settings.endpoint_api_key,
                timeout_seconds=settings.endpoint_timeout_seconds,
            )
            return HttpEmbedder(endpoint, card)
    raise InvalidModelInput("kind", f"unknown embedder kind {settings.kind!r}")


def open_reranker(settings: RerankerSettings) -> Reranker | None:
    """Return the configured reranker, or None if there is none. Blocks while the model is loaded.

    Raises:
        InvalidModelInput: a setting is missing or unusable.
        ModelNotInstalled: the extra `models` is not installed.
        ModelMismatch: the model is no reranker.
    """
    if settings.kind == "none":
        return None
    if settings.source is None:
        raise InvalidModelInput("source", f"is required for kind {settings.kind!r}")
    if settings.kind == "flag":
        from rearview.adapters.models.flag_reranker import FlagReranker

        return FlagReranker(settings.source, device=settings.device, threads=settings.threads)
    if settings.kind == "cross-encoder":
        from rearview.adapters.models.cross_encoder_reranker import CrossEncoderReranker

        return CrossEncoderReranker(settings.source, device=settings.device, threads=settings.threads)
    raise InvalidModelInput("kind", f"unknown reranker kind {settings.kind!r}")
