"""A random walk of agents of two tenants, and a model of what each of them may see at each moment.

Every text that is written carries a mark that says whose it is. Whatever comes back - answers, traces, lists, errors -
is searched for marks; one that the model does not allow is a leak. Both tenants use the same names for everything, and
ids are shared between all agents, as if each had guessed them all.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio

from rearview.v1 import event_pb2, forget_pb2, memory_pb2, namespace_pb2, recall_pb2
from rearview.v1 import memory_service_pb2 as messages
from rearview.v1.memory_service_pb2_grpc import MemoryServiceStub
from rearview.v1.namespace_pb2_grpc import NamespaceServiceStub
from tests.support.running_gateway import bearer

TENANTS, AGENTS, NAMESPACES = ("a", "b"), ("alpha", "beta"), ("alpha", "beta", "shared")
OWNERS = {"alpha": "alpha", "beta": "beta", "shared": "alpha"}
MARK = re.compile(r"zq([ab])x(alpha|beta|shared)x([a-z]{4})qz", re.ASCII)
TEXTS = (
    "仓库的钥匙在老吴那里 {mark}",
    "The warehouse key is with Old Wu {mark}",
    "我们把 warehouse 的备用钥匙给了小李 {mark}",
    "The alarm code is changed every Friday {mark}",
    "每周五换报警密码 {mark} before closing",
)
QUERIES = ("仓库钥匙在谁那里", "where is the warehouse key", "报警密码 alarm code 什么时候换")
CALL_SECONDS = 60.0


@dataclass
class Names:
    """Everything that anybody was ever told, which everybody tries: names, and ids without their namespaces."""

    memories: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)


@dataclass
class Tenancy:
    """What one tenant's agents may see: grants by (namespace, agent), what is public, and which marks are gone."""

    grants: dict[tuple[str, str], bool] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)

    def reads(self, agent: str, namespace: str) -> bool:
        return OWNERS[namespace] == agent or namespace in self.public or (namespace, agent) in self.grants

    def writes(self, agent: str, namespace: str) -> bool:
        return OWNERS[namespace] == agent or self.grants.get((namespace, agent), False)


@dataclass(frozen=True)
class Agent:
    tenant: str
    name: str
    key: str
    only: tuple[str, ...] = ()
    """What its key is limited to; all namespaces if empty."""

    def reaches(self, namespace: str) -> bool:
        """True unless its key is limited to other namespaces."""
        return not self.only or namespace in self.only


class Walk:
    """Takes steps and counts what happened; `leaks` says what should not have been seen, and where."""

    def __init__(self, channel: grpc.aio.Channel, agents: Sequence[Agent], seed: int) -> None:
        self._memories: Any = MemoryServiceStub(channel)
        self._namespaces: Any = NamespaceServiceStub(channel)
        self._agents = agents
        self._random = random.Random(seed)
        self._names = Names()
        self._tenancies = {tenant: Tenancy() for tenant in TENANTS}
        self._written = 0
        self.leaks: list[str] = []
        self.counts: Counter[str] = Counter()

    async def change(self) -> None:
        """Write something, forget something, or change who may see what. One at a time: the model is exact."""
        agent = self._random.choice(self._agents)
        namespace = self._random.choice(NAMESPACES)
        step = self._random.choice(
            (self._append, self._append, self._remember, self._grant, self._revoke, self._publish, self._forget)
        )
        await step(agent, namespace)

    async def look(self) -> None:
        """Try to see something. Any number of these may go on at a time."""
        agent = self._random.choice(self._agents)
        namespace = self._random.choice(NAMESPACES)
        what = self._random.choice(
            (self._recall, self._recall, self._recall, self._list, self._read, self._trace, self._overview)
        )
        await what(agent, namespace)

    def may_read(self, agent: Agent, namespace: str) -> bool:
        return agent.reaches(namespace) and self._tenancies[agent.tenant].reads(agent.name, namespace)

    def may_write(self, agent: Agent, namespace: str) -> bool:
        return agent.reaches(namespace) and self._tenancies[agent.tenant].writes(agent.name, namespace)

    async def _append(self, agent: Agent, namespace: str) -> None:
        request = messages.AppendEventsRequest(
            parent=f"namespaces/{namespace}/sessions/talk",
            events=[event_pb2.Event(role=event_pb2.ROLE_USER, content=self._text(agent, namespace))],
        )
        answer = await self._call(self._memories.AppendEvents, request, agent, allowed=self.may_write(agent, namespace))
        if answer is not None:
            self._names.events += [event.name for event in answer.events]

    async def _remember(self, agent: Agent, namespace: str) -> None:
        request = messages.RememberRequest(
            parent=f"namespaces/{namespace}", memory=memory_pb2.Memory(content=self._text(agent, namespace))
        )
        answer = await self._call(self._memories.Remember, request, agent, allowed=self.may_write(agent, namespace))
        if answer is not None:
            self._names.memories.append(answer.memory.name)

    async def _grant(self, agent: Agent, namespace: str) -> None:
        other = self._random.choice([name for name in AGENTS if name != agent.name])
        write = self._random.random() < 0.5
        request = namespace_pb2.GrantAccessRequest(
            name=f"namespaces/{namespace}",
            principal=other,
            access=namespace_pb2.ACCESS_WRITE if write else namespace_pb2.ACCESS_READ,
        )
        if await self._call(self._namespaces.GrantAccess, request, agent, allowed=self._owns(agent, namespace)):
            self._tenancies[agent.tenant].grants[namespace, other] = write
        await self._call(
            self._namespaces.Subscribe, namespace_pb2.SubscribeRequest(name=f"namespaces/{namespace}"), agent
        )

    async def _revoke(self, agent: Agent, namespace: str) -> None:
        other = self._random.choice([name for name in AGENTS if name != agent.name])
        request = namespace_pb2.RevokeAccessRequest(name=f"namespaces/{namespace}", principal=other)
        if await self._call(self._namespaces.RevokeAccess, request, agent) is not None:
            self._tenancies[agent.tenant].grants.pop((namespace, other), None)

    async def _publish(self, agent: Agent, namespace: str) -> None:
        public = self._random.random() < 0.4
        visibility = namespace_pb2.VISIBILITY_PUBLIC if public else namespace_pb2.VISIBILITY_PRIVATE
        request = namespace_pb2.UpdateNamespaceRequest(
            namespace=namespace_pb2.Namespace(name=f"namespaces/{namespace}", visibility=visibility)
        )
        request.update_mask.paths.append("visibility")
        if await self._call(self._namespaces.UpdateNamespace, request, agent) is not None:
            published = self._tenancies[agent.tenant].public
            (published.add if public else published.discard)(namespace)

    async def _forget(self, agent: Agent, namespace: str) -> None:
        if not self._names.memories:
            return
        name = self._random.choice(self._names.memories)
        found = await self._call(self._memories.GetMemory, messages.GetMemoryRequest(name=name), agent)
        request = forget_pb2.ForgetRequest(
            parent="/".join(name.split("/")[:2]), memories=forget_pb2.MemoryNames(names=[name])
        )
        receipt = await self._call(self._memories.Forget, request, agent)
        if receipt is not None:
            self._names.receipts.append(receipt.name)
            if found is not None:
                self._tenancies[agent.tenant].forgotten |= {mark[0] for mark in MARK.finditer(found.content)}

    async def _recall(self, agent: Agent, namespace: str) -> None:
        others = [name for name in NAMESPACES if name != namespace]
        wanted = [namespace, *self._random.sample(others, self._random.choice((0, 0, 0, 1, 2)))]
        request = recall_pb2.RecallRequest(
            parent=f"namespaces/{namespace}",
            additional_namespaces=[f"namespaces/{name}" for name in wanted[1:]],
            query=self._random.choice(QUERIES),
            top_k=20,
            include_metadata=True,
        )
        allowed = all(self.may_read(agent, name) for name in wanted)
        for _ in range(2):  # the second time the cache may answer
            answer = await self._call(self._memories.Recall, request, agent, allowed=allowed)
            if answer is None:
                return
            self.counts["answers from the cache"] += answer.cache.hit
            self._names.traces = [*self._names.traces, answer.trace][-200:]

    async def _list(self, agent: Agent, namespace: str) -> None:
        parent, session = f"namespaces/{namespace}", f"namespaces/{namespace}/sessions/talk"
        method, request = self._random.choice(
            (
                (self._memories.ListMemories, messages.ListMemoriesRequest(parent=parent, page_size=1000)),
                (self._memories.ListEvents, messages.ListEventsRequest(parent=session, page_size=1000)),
                (self._memories.ListSessions, messages.ListSessionsRequest(parent=parent)),
                (self._memories.GetWorkingMemory, messages.GetWorkingMemoryRequest(name=session)),
            )
        )
        await self._call(method, request, agent)

    async def _read(self, agent: Agent, namespace: str) -> None:
        known = self._random.choice((self._names.memories, self._names.events))
        if not known:
            return
        # Also under the name of another namespace, as somebody would try who knows an id.
        name = self._random.choice(known)
        if self._random.random() < 0.5:
            name = "/".join(["namespaces", namespace, *name.split("/")[2:]])
        if "/memories/" in name:
            await self._call(self._memories.GetMemory, messages.GetMemoryRequest(name=name), agent)
            await self._call(self._memories.ListMemoryHistory, messages.ListMemoryHistoryRequest(name=name), agent)
        else:
            await self._call(self._memories.GetCaptureTrace, messages.GetCaptureTraceRequest(name=name), agent)

    async def _trace(self, agent: Agent, namespace: str) -> None:
        if self._names.traces:
            name = self._random.choice(self._names.traces)
            await self._call(self._memories.GetRecallTrace, recall_pb2.GetRecallTraceRequest(name=name), agent)
        if self._names.receipts:
            name = self._random.choice(self._names.receipts)
            await self._call(self._memories.GetForgetReceipt, forget_pb2.GetForgetReceiptRequest(name=name), agent)

    async def _overview(self, agent: Agent, namespace: str) -> None:
        await self._call(self._namespaces.ListNamespaces, namespace_pb2.ListNamespacesRequest(), agent)
        name = f"namespaces/{namespace}"
        allowed = self.may_read(agent, namespace)
        await self._call(
            self._namespaces.GetNamespace, namespace_pb2.GetNamespaceRequest(name=name), agent, allowed=allowed
        )

    async def _call(self, method: Any, request: Any, agent: Agent, *, allowed: bool | None = None) -> Any:
        """Return the answer, None if the call was refused; note what it should not have said or let happen."""
        what = type(request).__name__.removesuffix("Request")
        try:
            answer = await method(request, metadata=bearer(agent.key), timeout=CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            self.counts[error.code().name] += 1
            told = f"{error.details()} {error.trailing_metadata()}"
            self._check(agent, what, told)
            if error.code() not in EXPECTED or (allowed and error.code() is grpc.StatusCode.PERMISSION_DENIED):
                self.leaks.append(f"{what} of {agent.tenant}/{agent.name} ended with {told}")
            return None
        self.counts["OK"] += 1
        if allowed is False:
            self.leaks.append(f"{what} of {agent.tenant}/{agent.name} was allowed")
        self._check(agent, what, answer.SerializeToString().decode("utf-8", "replace"))
        return answer

    def _check(self, agent: Agent, what: str, told: str) -> None:
        for mark in MARK.finditer(told):
            tenant, namespace, _ = mark.groups()
            self.counts["marks seen"] += 1
            self.counts["marks of others seen"] += OWNERS[namespace] != agent.name
            if tenant != agent.tenant or not self.may_read(agent, namespace):
                self.leaks.append(f"{what} told {agent.tenant}/{agent.name} {mark[0]}")
            elif mark[0] in self._tenancies[tenant].forgotten:
                self.leaks.append(f"{what} told {agent.tenant}/{agent.name} the forgotten {mark[0]}")

    def _text(self, agent: Agent, namespace: str) -> str:
        self._written += 1
        number, letters = self._written, ""
        for _ in range(4):
            number, letter = divmod(number, 26)
            letters += chr(ord("a") + letter)
        mark = f"zq{agent.tenant}x{namespace}x{letters}qz"
        return self._random.choice(TEXTS).format(mark=mark)

    def _owns(self, agent: Agent, namespace: str) -> bool:
        return OWNERS[namespace] == agent.name and agent.reaches(namespace)


EXPECTED = (
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,  # forgetting what is forgotten
    grpc.StatusCode.UNIMPLEMENTED,  # what is not offered yet
)
