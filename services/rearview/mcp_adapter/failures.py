"""What an agent is told when a call fails: the reason, each bad field, and what to do about it."""

import mcp_types as types

from rearview.domain.errors import (
    DeadlineExceeded,
    FeatureNotOffered,
    InvalidFields,
    NamespaceDenied,
    NotFound,
    RearviewError,
    Unauthenticated,
)

ERROR_META_KEY = "rearview.dev/error"
REFRESH = (
    "Send `Authorization: Bearer <key>` with a valid Rearview API key. A tenant's admin makes one with CreateApiKey, "
    "or replaces one with RotateApiKey; then reconnect with the new key."
)

_ADVICE: tuple[tuple[type[RearviewError], str], ...] = (
    (Unauthenticated, REFRESH),
    (FeatureNotOffered, "This version of the server does not offer that; call the tool without it."),
    (NamespaceDenied, "Leave `namespace` out to use your own, or ask who administers the tenant for access."),
    (NotFound, "Search again; it may have been forgotten or replaced."),
    (
        DeadlineExceeded,
        "It may have taken effect all the same: reads can be repeated; before a write is repeated, search for it.",
    ),
)


def failed(tool: str, error: RearviewError) -> types.CallToolResult:
    """Return the failure of a tool call, for the model as text and for programs under `_meta`."""
    lines = [f"{error.reason}: {error.message}"]
    if isinstance(error, InvalidFields):
        lines = [f"{error.reason}: {tool} was not called, because of its arguments:"]
        lines += [f"- {violation.field or '(arguments)'}: {violation.description}" for violation in error.violations]
    if isinstance(error, FeatureNotOffered) and "feature" in error.metadata:
        lines.append(f"Not offered: {error.metadata['feature']}")
    advice = next((text for kind, text in _ADVICE if isinstance(error, kind)), "")
    if error.retry_after_seconds is not None:
        advice = f"Try again in {max(error.retry_after_seconds, 0.0):.1f} s."
    if advice:
        lines.append(advice)
    result = types.CallToolResult(content=[types.TextContent(type="text", text="\n".join(lines))], is_error=True)
    result.meta = {ERROR_META_KEY: error_json(error)}
    return result


def error_json(error: RearviewError) -> dict[str, object]:
    """Return an error for programs; the reasons are those of docs/errors.md."""
    told: dict[str, object] = {"reason": error.reason, "message": error.message, "metadata": dict(error.metadata)}
    if isinstance(error, InvalidFields):
        told["fields"] = [{"field": one.field, "description": one.description} for one in error.violations]
    if error.retry_after_seconds is not None:
        told["retry_after_seconds"] = error.retry_after_seconds
    if isinstance(error, Unauthenticated):
        told["how_to_refresh"] = REFRESH
    return told
