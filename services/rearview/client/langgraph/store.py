"""The store: LangGraph's operations as calls of the client."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from rearview.client.blocking import Client
from rearview.client.langgraph.items import (
    WHOLE_VALUE,
    Namespace,
    found_item,
    item_of,
    key_of,
    labels_of,
    metadata_of,
    namespace_of,
    prefix_labels,
    search_text,
    session_of,
    ttl_of,
)
from rearview.client.langgraph.matching import check_filter, literal_prefix, matches, passes
from rearview.client.values import memory_filter
from rearview.domain.errors import Conflict, NotFound, invalid_field
from rearview.domain.memory import MemoryType
from rearview.domain.recall import MAX_TOP_K, Route
from rearview.v1 import memory_pb2, recall_pb2

_MOST_ATTEMPTS = 5
_ALWAYS_HOT = 1.0
"""Priority that no policy moves out of the database, where an item could be read only in part."""
_REFRESHED_AFTER = 0.05
"""An item's life is prolonged by a read once this share of it has passed: not every read is a write."""
_NO_TURNS = (Route.WORKING_MEMORY, Route.RAW_TURNS)


class RearviewStore(BaseStore):
    """Items of LangGraph kept as memories in the client's namespace, searched by meaning in Chinese and English.

    `fields` are the paths that are searched unless `put` names others, by default the whole value. No embedding
    function is needed: the platform has its own. Every operation may raise the errors of `rearview.domain.errors`.
    """

    supports_ttl = True

    def __init__(self, client: Client, *, fields: Sequence[str] = (WHOLE_VALUE,), ttl: TTLConfig | None = None) -> None:
        self._client = client
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Return the results in order. Reads see what was there before; of several puts to one key the last counts."""
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in list(ops):
            validate_op_namespace(op)
            result: Result = None
            if isinstance(op, GetOp):
                result = self._get(op)
            elif isinstance(op, SearchOp):
                result = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                result = self._list_namespaces(op)
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            else:
                raise invalid_field("ops", f"{type(op).__name__} is no operation of a store")
            results.append(result)
        for put in puts.values():
            if put.value is None:
                self._delete(put)
            else:
                self._put(put, put.value)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same without blocking the event loop: the calls wait in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        memory = self._find(op.namespace, op.key)
        if memory is None:
            return None
        if op.refresh_ttl:
            self._refresh([memory])
        return item_of(memory)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        check_filter(op.filter)
        if op.limit < 0 or op.offset < 0:
            raise invalid_field("limit" if op.limit < 0 else "offset", "must not be negative")
        wanted = (found for found in self._candidates(op) if passes(found[1].value, op.filter))
        page = list(islice(wanted, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            self._refresh([memory for memory, _ in page])
        return [item for _, item in page]

    def _candidates(self, op: SearchOp) -> Iterator[tuple[memory_pb2.Memory, SearchItem]]:
        """Yield the items below the prefix: those that a query finds, best first, then the rest, newest first."""
        ranked = self._ranked(op) if op.query else ()
        rest = ((memory, None) for memory in self._below(op.namespace_prefix))
        seen: set[str] = set()
        for memory, score in chain(ranked, rest):
            item = found_item(memory, score)
            place = session_of(item.namespace, item.key)
            if place not in seen:
                seen.add(place)
                yield memory, item

    def _ranked(self, op: SearchOp) -> Iterator[tuple[memory_pb2.Memory, float | None]]:
        answer = self._client.recall(
            op.query or "",
            top_k=MAX_TOP_K,
            filter=memory_filter(types=[MemoryType.EXPLICIT], labels=prefix_labels(op.namespace_prefix, indexed=True)),
            disabled_routes=_NO_TURNS,
            include_metadata=True,
            context_token_budget=0,
        )
        return ((hit.memory, hit.score.total) for hit in answer.hits)

    def _below(self, prefix: Namespace, *, full: bool = True) -> Iterator[memory_pb2.Memory]:
        return self._client.list_memories(filter=memory_filter(labels=prefix_labels(prefix)), full=full)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        # A set of namespaces, not of items: what is held does not grow with the items.
        there = {namespace_of(memory) for memory in self._below(literal_prefix(conditions), full=False)}
        matching = {namespace[: op.max_depth] for namespace in there if matches(namespace, conditions)}
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _delete(self, op: PutOp) -> None:
        with suppress(NotFound):
            self._client.forget(session=session_of(op.namespace, op.key), reason="deleted from the LangGraph store")

    def _put(self, op: PutOp, value: Mapping[str, Any]) -> None:
        now = datetime.now(UTC)
        text = "" if op.index is False else search_text(value, self._fields if op.index is None else op.index)
        labels = labels_of(op.namespace, indexed=bool(text))
        metadata = metadata_of(op.key, value, op.ttl, now)
        # A memory needs a text. What is not to be searched is not among those that a search by meaning looks at.
        content = text or op.key.strip() or "item"
        expires_at = None if op.ttl is None else now + timedelta(minutes=op.ttl)
        for _ in range(_MOST_ATTEMPTS):
            known = self._find(op.namespace, op.key)
            if known is None:
                self._create(op, content, labels, metadata, expires_at)
                return
            changes = {"content": content, "labels": labels, "metadata": metadata, "expire_time": expires_at}
            with suppress(NotFound):  # deleted meanwhile
                self._client.update_memory(known.name, changes)
                return
        raise Conflict("others kept deleting the item; repeat the request", retry_after_seconds=0.5)

    def _create(
        self,
        op: PutOp,
        content: str,
        labels: Mapping[str, str],
        metadata: Mapping[str, Any],
        expires_at: datetime | None,
    ) -> None:
        session = session_of(op.namespace, op.key)
        stored = self._client.remember(
            content,
            priority=_ALWAYS_HOT,
            labels=labels,
            metadata=metadata,
            expires_at=expires_at,
            session=session,
        ).memory
        if (namespace_of(stored), key_of(stored)) != (op.namespace, op.key):
            self._client.forget(session=session, reason="named by personal data", skip_grace_period=True)
            raise invalid_field(
                "key" if namespace_of(stored) == op.namespace else "namespace",
                f"holds personal data that the tenant's policy redacts ({', '.join(stored.redactions)}),"
                " so the item could not be named by it; use an identifier",
            )
        # Whoever put the same key at the same moment is found here by the later of the two, and the newest item stays.
        _, *older = self._versions(op.namespace, op.key)
        for memory in older:
            with suppress(NotFound):  # one that another has forgotten already is no reason to leave the rest
                self._client.forget(memories=[memory.name], reason="replaced in the LangGraph store")

    def _find(self, namespace: Namespace, key: str) -> memory_pb2.Memory | None:
        return next(self._versions(namespace, key), None)

    def _versions(self, namespace: Namespace, key: str) -> Iterator[memory_pb2.Memory]:
        return self._client.list_memories(filter=self._of_item(namespace, key))

    def _of_item(self, namespace: Namespace, key: str) -> recall_pb2.MemoryFilter:
        of_client = self._client.namespace.removeprefix("namespaces/")
        session = f"namespaces/{of_client}/sessions/{session_of(namespace, key)}"
        return memory_filter(session=session, labels=prefix_labels(namespace))

    def _refresh(self, memories: Iterable[memory_pb2.Memory]) -> None:
        now = datetime.now(UTC)
        for memory in memories:
            life = ttl_of(memory)
            if life is None:
                continue
            if memory.expire_time.ToDatetime(UTC) - now < life * (1 - _REFRESHED_AFTER):
                with suppress(NotFound):  # deleted or expired meanwhile
                    self._client.update_memory(memory.name, {"expire_time": now + life})
