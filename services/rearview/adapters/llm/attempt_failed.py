"""How one attempt at asking a model can fail."""

from enum import StrEnum

from rearview.domain.extraction_errors import ExtractionFailure


class Remedy(StrEnum):
    """What can be done after a failed attempt."""

    TRY_AGAIN = "try_again"
    TRY_ONCE_MORE = "try_once_more"
    GIVE_UP = "give_up"


class AttemptFailed(Exception):
    """One attempt failed; `detail` is made of our own words, never of the endpoint's answer.

    `pause_seconds` is what the endpoint asked for. `truncated` says that the answer hit the bound of its length.
    `blames` says whether the endpoint, and not the request, is at fault; `lasting`, that asking again is no use until
    somebody acts.
    """

    def __init__(
        self,
        failure: ExtractionFailure,
        detail: str,
        remedy: Remedy,
        *,
        pause_seconds: float | None = None,
        truncated: bool = False,
        blames: bool = True,
        lasting: bool = False,
    ) -> None:
        super().__init__(f"{failure}: {detail}")
        self.failure = failure
        self.detail = detail
        self.remedy = remedy
        self.pause_seconds = pause_seconds
        self.truncated = truncated
        self.blames = blames
        self.lasting = lasting


class FormatRefused(Exception):
    """The endpoint refused a request that asked for a form of answer; it may take one that does not."""


def broken(detail: str, *, truncated: bool = False) -> AttemptFailed:
    """Return the failure of an answer that makes no sense; the next one may."""
    return AttemptFailed(ExtractionFailure.ANSWER_BROKEN, detail, Remedy.TRY_ONCE_MORE, truncated=truncated)
