"""What can go wrong with a language model that reads turns."""

from enum import StrEnum

from rearview.domain.embedding_errors import ModelUnavailable

EXTRACTOR = "extractor"
"""What the metadata of errors calls the model."""


class ExtractionFailure(StrEnum):
    """Why a model gave no reading; also the label under which it is counted."""

    BUDGET_EXHAUSTED = "budget_exhausted"
    BREAKER_OPEN = "breaker_open"
    QUEUE_FULL = "queue_full"
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION_FAILED = "connection_failed"
    REQUEST_REJECTED = "request_rejected"
    ANSWER_BROKEN = "answer_broken"
    ANSWER_REFUSED = "answer_refused"
    CLOSED = "closed"


class ExtractorUnavailable(ModelUnavailable):
    """The model gave no reading of these turns; the same request may succeed later. Holds no content."""

    def __init__(
        self, failure: ExtractionFailure, detail: str = "", *, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(
            f"the extraction model gave no reading: {failure}{f' ({detail})' if detail else ''}",
            dependency=EXTRACTOR,
            retry_after_seconds=retry_after_seconds,
        )
        self.failure = failure
