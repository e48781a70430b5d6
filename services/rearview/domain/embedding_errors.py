"""What can go wrong with embeddings and rerankers, as typed errors."""


class ModelError(Exception):
    """Root of every error about embedding and reranking models."""


class InvalidModelInput(ModelError, ValueError):
    """A value handed to a model is unusable; names the field and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class UnknownModel(ModelError):
    """No card describes the model; it has to be calibrated first."""


class ModelMismatch(ModelError):
    """Card, weights and answers of a model do not belong together (dimension, digest, generation)."""


class ModelNotInstalled(ModelError):
    """A package or a file that the model needs is absent; the message says how to get it."""


class ModelUnavailable(ModelError):
    """The model cannot answer now; the same call may succeed later."""


class ModelOverloaded(ModelUnavailable):
    """A bounded queue in front of the model is full."""


class ModelClosed(ModelUnavailable):
    """The model was closed; no call will succeed any more."""


class ModelRequestRejected(ModelError):
    """An endpoint refused the request for good (bad key, unknown model, too long); retrying is pointless."""


class ModelAnswerInvalid(ModelError):
    """A model answered something that is not embeddings: not JSON, missing rows, non-finite numbers."""
