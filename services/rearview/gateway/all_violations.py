"""A request with a malformed name goes no further, so what else is wrong with it has to be told here."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from google.protobuf.message import Message

from rearview.domain.errors import InvalidFields, InvalidRequest, RearviewError
from rearview.ports.clock import Clock
from rearview.rpc.convert.events import append_events_from_proto
from rearview.rpc.convert.forgets import forget_from_proto
from rearview.rpc.convert.memories import (
    batch_remember_from_proto,
    remember_from_proto,
    update_memory_from_proto,
)
from rearview.rpc.convert.recalls import recall_from_proto
from rearview.v1 import forget_pb2, memory_service_pb2, recall_pb2

_CONVERSIONS: dict[type[Message], Callable[[Any, datetime], object]] = {
    memory_service_pb2.AppendEventsRequest: append_events_from_proto,
    memory_service_pb2.RememberRequest: remember_from_proto,
    memory_service_pb2.BatchRememberRequest: batch_remember_from_proto,
    memory_service_pb2.UpdateMemoryRequest: lambda request, _: update_memory_from_proto(request),
    recall_pb2.RecallRequest: recall_from_proto,
    forget_pb2.ForgetRequest: lambda request, _: forget_from_proto(request),
}
"""The conversions of the services behind, for the requests that have more than names in them."""


class AllViolations:
    """Completes the error of a request whose names are malformed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def of(self, request: Any, names_only: InvalidFields) -> InvalidRequest:
        """Return the error that names every bad field of the request, `names_only` if that is all there is."""
        convert = _CONVERSIONS.get(type(request))
        if convert is None:
            return names_only
        try:
            convert(request, self._clock.now())
        except InvalidRequest as error:
            return error
        except RearviewError:
            return names_only
        return names_only
