"""What can go wrong with embeddings and rerankers: a branch of the tree of `domain.errors`.

A model that cannot answer is told to callers as any other part that is away (`Unavailable`) or overrun (`Overloaded`);
the rest are mistakes in the configuration, which end the start of a service, or bugs.
"""

from rearview.domain.errors import Overloaded, RearviewError, Unavailable

EMBEDDER = "embedder"
"""What the metadata of errors calls the model."""

_OVERLOADED_SECONDS = 1.0


class ModelError(RearviewError):
    """Root of every error about embedding and reranking models."""


class InvalidModelInput(ModelError, ValueError):
    """A value handed to a model is unusable; names the field and the problem."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class UnknownModel(ModelError):
    """No card describes the model; it has to be calibrated first."""


class ModelNotInstalled(ModelError):
    """A package or a file that the model needs is absent; the message says how to get it."""


class ModelUnavailable(ModelError, Unavailable):
    """The model cannot answer now; the same call may succeed later."""

    def __init__(self, message: str, *, dependency: str = EMBEDDER, retry_after_seconds: float | None = None) -> None:
        super().__init__(message, dependency=dependency, retry_after_seconds=retry_after_seconds)


class ModelOverloaded(ModelError, Overloaded):
    """A bounded queue in front of the model is full; come back soon."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after_seconds=_OVERLOADED_SECONDS, service=EMBEDDER)


class ModelClosed(ModelUnavailable):
    """The model was closed, as when its service shuts down; this process will not answer any more."""


class ModelMismatch(ModelUnavailable):
    """Card, weights and answers of a model do not belong together (dimension, digest, generation)."""


class ModelRequestRejected(ModelUnavailable):
    """An endpoint refused the request (bad key, unknown model, too long); its operator has to act."""


class ModelAnswerInvalid(ModelUnavailable):
    """A model answered something that is not embeddings: not JSON, missing rows, non-finite numbers."""
