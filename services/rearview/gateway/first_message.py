"""A stream whose first message has to be looked at before it is passed on."""

from collections.abc import AsyncIterator
from typing import TypeVar

from rearview.domain.errors import invalid_field

T = TypeVar("T")


async def with_first(requests: AsyncIterator[T]) -> tuple[T, AsyncIterator[T]]:
    """Return the first message, and the whole stream, the first message included.

    Raises:
        InvalidFields: the stream is empty.
    """
    try:
        first = await anext(aiter(requests))
    except StopAsyncIteration:
        raise invalid_field("", "the stream holds no message") from None
    return first, _whole(first, requests)


async def _whole(first: T, rest: AsyncIterator[T]) -> AsyncIterator[T]:
    yield first
    async for request in rest:
        yield request
