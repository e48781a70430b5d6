from collections import Counter
from types import SimpleNamespace
from typing import Any

import grpc

from rearview.rpc.interceptors import KnownHandlers


async def test_a_handler_is_put_together_once_and_a_method_that_is_not_served_is_asked_for_again() -> None:
    served: Any = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    asked: Counter[str] = Counter()

    async def within(details: Any) -> Any:
        asked[details.method] += 1
        return served if details.method == "/rearview.v1.MemoryService/Recall" else None

    handlers = KnownHandlers()
    for method, expected in (("/rearview.v1.MemoryService/Recall", served), ("/made.Up/Method", None)):
        details: Any = SimpleNamespace(method=method)
        assert [await handlers.intercept_service(within, details) for _ in range(3)] == [expected] * 3
    assert asked == {"/rearview.v1.MemoryService/Recall": 1, "/made.Up/Method": 3}
