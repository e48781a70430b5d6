"""What many requests have in common: request ids, pages, labels, names of resources."""

import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from google.protobuf.message import Message

from rearview.domain.memory import MAX_LABEL_VALUE_CHARACTERS, MAX_LABELS
from rearview.domain.names import parse_uuid
from rearview.domain.paging import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageRequest
from rearview.domain.writing import RequestKey
from rearview.rpc.convert.violations import Violations
from rearview.rpc.fingerprint import fingerprint, list_fingerprint
from rearview.rpc.page_token import decode_page_token, encode_page_token

NIL = UUID(int=0)

_LABEL_KEY = re.compile(r"[a-z][a-z0-9_.-]{0,62}", re.ASCII)
_VERSION_ETAG = re.compile(r'"([0-9]{1,18})"', re.ASCII)


def request_key_from_proto(request: Message, request_id: str, found: Violations) -> RequestKey | None:
    """Return the key by which a repeated request is known; None for a request without an id."""
    if not request_id:
        return None
    return RequestKey(
        request_id=found.attempt(NIL, parse_uuid, request_id, "request_id"),
        method=type(request).__name__.removesuffix("Request"),
        fingerprint=fingerprint(request),
    )


def page_from_proto(request: Message, page_size: int, page_token: str, key: bytes, found: Violations) -> PageRequest:
    """Return which page is asked for.

    Raises:
        InvalidPageToken: the token was not made for this request.
    """
    size = found.whole(page_size, "page_size", default=DEFAULT_PAGE_SIZE, low=1, high=MAX_PAGE_SIZE)
    after = decode_page_token(key, type(request).__name__, list_fingerprint(request), page_token)
    return PageRequest(size=size, after=after)


def next_page_token(request: Message, after: tuple[str, ...], key: bytes) -> str:
    """Return the token of the page after a position, for the answer of `request`; empty on the last page."""
    return encode_page_token(key, type(request).__name__, list_fingerprint(request), after)


def labels_from_proto(labels: Mapping[str, str], field: str, found: Violations) -> dict[str, str]:
    """Return the labels; note what is too much, too long or of another alphabet."""
    if len(labels) > MAX_LABELS:
        found.add(field, f"has {len(labels)} labels; at most {MAX_LABELS} are allowed")
    checked: dict[str, str] = {}
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            found.add(field, "keys are 1 to 63 of a-z, 0-9, _, . and -, and begin with a letter")
        checked[key] = found.text(value, f"{field}[{key[:63]}]", max_characters=MAX_LABEL_VALUE_CHARACTERS)
    return checked


def mask_from_proto(paths: Sequence[str], allowed: frozenset[str], field: str, found: Violations) -> frozenset[str]:
    """Return the fields that a mask names; note an empty mask and fields that cannot be set."""
    if not paths:
        found.add(field, "must name at least one field")
    for path in sorted(set(paths) - allowed):
        found.add(field, f"{path[:63]!r} cannot be set; these can: {', '.join(sorted(allowed))}")
    return frozenset(paths) & allowed


def require_namespace(namespace: str, parent: str, field: str, found: Violations) -> None:
    """Note a resource of another namespace than the parent's; an unknown parent has been noted already."""
    if parent and namespace != parent:
        found.add(field, "must be of the namespace that is the parent")


def version_from_etag(etag: str, field: str, found: Violations) -> int | None:
    """Return the version that an etag stands for; None for no etag; note what is no etag of ours."""
    if not etag:
        return None
    match = _VERSION_ETAG.fullmatch(etag)
    if match is None:
        found.add(field, "is not an etag of this service; send back the one that was read")
        return None
    return int(match[1])


def etag_of(version: int) -> str:
    """Return the entity tag of a version (AIP-154)."""
    return f'"{version}"'
