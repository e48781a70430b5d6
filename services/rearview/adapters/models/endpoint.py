"""What is asked of an OpenAI-compatible endpoint before anything is sent to it."""

import string

import httpx

from rearview.domain.embedding_errors import InvalidModelInput

_KEY_CHARACTERS = frozenset(string.ascii_letters + string.digits + string.punctuation)


def check_endpoint(url: str, model: str, api_key: str | None) -> None:
    """Raises: InvalidModelInput: the field that cannot be right, and why; the key is never quoted."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise InvalidModelInput("url", "is not a URL") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise InvalidModelInput("url", "must be an http or https URL")
    if parsed.userinfo:
        raise InvalidModelInput("url", "must not carry a password; use the API key")
    if not model:
        raise InvalidModelInput("model", "must not be empty")
    # A key that cannot be a header would be quoted in the HTTP library's own error.
    if api_key is not None and not (api_key and set(api_key) <= _KEY_CHARACTERS):
        raise InvalidModelInput("api_key", "must be printable ASCII without spaces")
