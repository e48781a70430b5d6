"""What a caller of Remember is told when the embedder does not do its part."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import grpc.aio
import numpy as np
import pytest
from numpy.typing import NDArray

from rearview.domain.embedding_errors import (
    ModelAnswerInvalid,
    ModelClosed,
    ModelMismatch,
    ModelOverloaded,
    ModelRequestRejected,
    ModelUnavailable,
)
from rearview.domain.errors import RearviewError
from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role, Scope
from rearview.internal.v1.writer_service_pb2_grpc import WriterServiceStub
from rearview.ports.embedder import Embedder
from rearview.rpc.errors import from_rpc_error
from rearview.v1 import memory_pb2, memory_service_pb2
from rearview.writer.app import run_writer
from rearview.writer.config import WriterConfig
from tests.support.signed_stub import signed
from tests.support.writer_fixtures import WriterBench

REQUEST = memory_service_pb2.RememberRequest(
    parent="namespaces/notes", memory=memory_pb2.Memory(content="周五和 Anna 去看展览")
)


class FailingEmbedder:
    """Hangs, or fails with the error it was made with."""

    def __init__(self, generation: EmbeddingGeneration, error: Exception | None) -> None:
        self.generation = generation
        self._error = error

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._error is None:
            await asyncio.Event().wait()
        assert self._error is not None
        raise self._error

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        raise AssertionError("remembering embeds no query")

    async def close(self) -> None:
        """Nothing to release."""


@asynccontextmanager
async def served(config: WriterConfig, embedder: Embedder) -> AsyncIterator[str]:
    port, stop = asyncio.get_running_loop().create_future(), asyncio.Event()
    serving = asyncio.create_task(run_writer(config, embedder=embedder, on_started=port.set_result, stop=stop))
    await asyncio.wait({serving, port}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        await serving
    yield f"127.0.0.1:{await port}"
    stop.set()
    await serving


async def refusal(config: WriterConfig, scope: Scope, embedder: Embedder) -> tuple[grpc.StatusCode, RearviewError]:
    caller = Caller(scope.tenant_id, "tester", Role.WRITE, {"notes": NamespaceAccess(scope.namespace_id, Access.WRITE)})
    metadata = signed(caller, config.internal_key.get_secret_value(), "writer", "Remember")
    async with served(config, embedder) as address, grpc.aio.insecure_channel(address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await WriterServiceStub(channel).Remember(REQUEST, metadata=metadata, timeout=60)
    return refused.value.code(), from_rpc_error(refused.value)


@pytest.mark.parametrize(
    "error",
    [
        None,
        ModelUnavailable("away"),
        ModelClosed("closed"),
        ModelMismatch("another model"),
        ModelRequestRejected("bad key"),
        ModelAnswerInvalid("not JSON"),
    ],
    ids=lambda error: type(error).__name__ if error else "hangs",
)
async def test_an_embedder_that_cannot_answer_is_an_unavailable_dependency(
    writer_config: WriterConfig, scope: Scope, real_embedder: Embedder, bench: WriterBench, error: Exception | None
) -> None:
    config = writer_config.model_copy(update={"embed_seconds": 0.05, "writer_role": "serve"})
    code, told = await refusal(config, scope, FailingEmbedder(real_embedder.generation, error))
    assert code is grpc.StatusCode.UNAVAILABLE
    assert (told.reason, told.metadata) == ("DEPENDENCY_UNAVAILABLE", {"dependency": "embedder"})
    assert await bench.count("memory") == 0


async def test_an_overrun_embedder_says_when_to_come_back(
    writer_config: WriterConfig, scope: Scope, real_embedder: Embedder
) -> None:
    config = writer_config.model_copy(update={"writer_role": "serve"})
    code, told = await refusal(config, scope, FailingEmbedder(real_embedder.generation, ModelOverloaded("full")))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (told.reason, told.metadata, told.retry_after_seconds) == ("OVERLOADED", {"service": "embedder"}, 1.0)
