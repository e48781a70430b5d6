"""A call as data: what to send where, and what to make of the answer. Shared by the blocking and the async client."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message

T = TypeVar("T")
Item = TypeVar("Item")
Response = TypeVar("Response", bound=Message)

MEMORY_SERVICE = "rearview.v1.MemoryService"
NAMESPACE_SERVICE = "rearview.v1.NamespaceService"
TENANT_SERVICE = "rearview.v1.TenantService"
LIFECYCLE_SERVICE = "rearview.v1.LifecycleService"


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a call uses unless it says otherwise. `session` is set within a session helper only."""

    namespace: str
    timeout_seconds: float
    session: str = ""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One unary call. `repeatable` calls change nothing when they arrive twice, so they may be tried again."""

    path: str
    request: Message
    decode: Callable[[bytes], Any]
    result: Callable[[Any], T]
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Pages(Generic[Item]):
    """A list that comes in pages; `first` is the call for the first of them."""

    first: Call[Any]
    items: Callable[[Any], Iterable[Item]]

    def next(self, response: Any) -> Call[Any] | None:
        """Return the call for the page after a response; None after the last."""
        if not response.next_page_token:
            return None
        request: Any = type(self.first.request)()
        request.CopyFrom(self.first.request)
        request.page_token = response.next_page_token
        return replace(self.first, request=request)


def call(service: str, method: str, request: Message, answer: type[Response], *, repeatable: bool) -> Call[Response]:
    """Return a call whose result is the answer as it is."""
    return Call(f"/{service}/{method}", request, answer.FromString, _as_it_is, repeatable)


def read(service: str, method: str, request: Message, answer: type[Response]) -> Call[Response]:
    """Return a call that changes nothing."""
    return call(service, method, request, answer, repeatable=True)


def _as_it_is(answer: Any) -> Any:
    return answer
