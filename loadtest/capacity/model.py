"""The capacity model: constants times a workload. No measurement and no test of anything that large."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadtest.capacity.constants import Constant
from loadtest.capacity.workload import Workload

DAY_SECONDS = 86_400
TURNS_A_CALL = 2
"""Of the appends whose CPU was measured."""
BENCH_CORES = 2
"""Of the machine whose rates stand for CPU where none was measured: a rate of n a second cost at most 2 / n cores."""
GIB, TIB = 2**30, 2**40


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of the table: what of, how much, in which unit, and what it is computed from."""

    part: str
    name: str
    amount: float
    unit: str
    basis: str


class Capacity:
    """Computes the rows of one workload from the constants by name."""

    def __init__(self, workload: Workload, constants: Mapping[str, Constant]) -> None:
        self._w = workload
        self._c = {name: constant.value for name, constant in constants.items()}
        active = workload.tenants * workload.active_share
        self.turns_a_day = active * workload.turns_per_day
        self.sessions = active * workload.sessions_per_day
        peak = workload.peak_factor / DAY_SECONDS
        self.turns = self.turns_a_day * peak
        self.misses_a_day = active * workload.recalls_per_day * (1 - workload.cached_recalls)
        self.recalls = active * workload.recalls_per_day * peak
        self.misses = self.recalls * (1 - workload.cached_recalls)
        self.moves = self.turns_a_day / DAY_SECONDS
        self.hot = workload.memories * workload.hot_share
        self.warm = workload.memories * workload.warm_share
        self.cold = workload.memories - self.hot - self.warm

    def rows(self) -> list[Row]:
        """Return all rows, parts together, in the order of the table."""
        return [*self._load(), *self._stored(), *self._cores(), *self._nodes(), *self._redis(), *self._network()]

    def _load(self) -> Iterator[Row]:
        part, w = "load at the peak", self._w
        yield Row(part, "turns appended", self.turns, "/s", f"{w.turns_per_day:g} a day of an active tenant")
        yield Row(part, "recalls", self.recalls, "/s", f"{w.recalls_per_day:g} a day of an active tenant")
        yield Row(part, "of these not answered by the cache", self.misses, "/s", f"{w.cached_recalls:.0%} cached")
        yield Row(part, "memories moved down a tier, each way", self.moves, "/s", "as many as are appended, all day")

    def _stored(self) -> Iterator[Row]:
        part, c, w = "stored", self._c, self._w
        for name, count, size in self._kept():
            yield Row(part, name, self._tables(count * size), "bytes", f"{count:,.0f} of {size:,.0f} bytes")
        yield Row(part, "database, one copy", self.database_bytes(), "bytes", "the sum")
        size = c["segment_bytes"]
        yield Row(
            part,
            "cold memories: segments in the object store",
            self.cold * size * w.object_copies,
            "bytes",
            f"{self.cold:,.0f} of {size:,.0f} bytes, {w.object_copies:g} copies",
        )

    def _tables(self, size: float) -> float:
        return size * self._w.table_slack

    def _kept(self) -> Iterator[tuple[str, float, float]]:
        """What is kept in the database: its name, how many of it, and the bytes of one with its indexes."""
        c, w = self._c, self._w
        yield "hot memories", self.hot, c["hot_unit_bytes"] + c["hot_memory_bytes"]
        yield "warm memories", self.warm, c["warm_unit_bytes"] + c["warm_memory_bytes"]
        yield "cold memories: pointers", self.cold, c["pointer_bytes"]
        yield "event log: turns", self.turns_a_day * w.event_retention_days, c["event_bytes"]
        yield "audit log: a record an append", self.turns_a_day / TURNS_A_CALL * w.audit_days, c["audit_record_bytes"]
        yield "recall traces", self.misses_a_day * w.trace_retention_days, c["trace_bytes"]
        yield "tenants", w.tenants, c["tenant_bytes"]

    def database_bytes(self) -> float:
        """Return the bytes of one copy of the database, its slack included."""
        return self._tables(sum(count * size for _, count, size in self._kept()))

    def _cores(self) -> Iterator[Row]:
        part, c, appends = "cores", self._c, self.turns / TURNS_A_CALL
        embedding = c["embedding_ms"]
        cached, cold = self.recalls - self.misses, self.misses * self._w.cold_recalls
        asked = c["recall_gateway_ms"] - embedding
        moved = BENCH_CORES * 1000 * (1 / c["warm_moves_per_s"] + 1 / c["cold_moves_per_s"])
        for name, milliseconds, basis in (
            (
                "gateway, without embedding",
                appends * c["append_gateway_ms"] + (self.misses + cached) * asked,
                f"{c['append_gateway_ms']:g} ms an append, {asked:g} a recall",
            ),
            ("embedding of queries, in the gateway", self.misses * embedding, f"{embedding:g} ms a query"),
            ("writer, role serve", appends * c["append_writer_ms"], f"{c['append_writer_ms']:g} ms an append"),
            (
                "writer, role work, without embedding; its statements included",
                self.turns * (self._indexed() - embedding),
                f"at most {self._indexed() - embedding:.1f} ms a turn",
            ),
            (
                "embedding of turns, in the writer",
                self.turns * embedding,
                f"a turn as a query, {embedding:g} ms",
            ),
            (
                "retriever",
                self.misses * c["recall_retriever_ms"] + cold * c["cold_touch_ms"],
                f"{c['recall_retriever_ms']:g} ms a recall, {c['cold_touch_ms']:g} where it reads segments",
            ),
            ("lifecycle; its statements included", self.moves * moved, f"at most {moved:.1f} ms a memory, both moves"),
            (
                "PostgreSQL",
                self.postgresql_ms(),
                f"{c['append_postgresql_ms']:g} ms an append, {c['recall_postgresql_ms']:g} a recall",
            ),
            ("Redis", appends * c["append_redis_ms"], f"{c['append_redis_ms']:g} ms an append"),
        ):
            yield Row(part, name, milliseconds / 1000 / self._w.cores_busy, "cores", basis)

    def _indexed(self) -> float:
        """Milliseconds of CPU to index a turn, at most: both cores of the benchmark at its rate."""
        return BENCH_CORES * 1000 / self._c["turns_indexed_per_s"]

    def postgresql_ms(self) -> float:
        """Return the milliseconds of CPU that appends and recalls take of PostgreSQL in a second of the peak."""
        return (
            self.turns / TURNS_A_CALL * self._c["append_postgresql_ms"] + self.misses * self._c["recall_postgresql_ms"]
        )

    def _nodes(self) -> Iterator[Row]:
        part, w = "PostgreSQL with Citus", self._w
        hot = self._tables(self.hot * self._c["hot_unit_bytes"])
        needs = {
            "memory": hot / (w.node_memory_gib * GIB * w.memory_used),
            "disk": self.database_bytes() / (w.node_disk_tib * TIB * w.disk_used),
            "cores": self.postgresql_ms() / 1000 / (w.node_cores * w.cores_busy),
        }
        nodes = max(map(math.ceil, needs.values()))
        machine = f"{w.node_cores:g} cores, {w.node_memory_gib:g} GiB, {w.node_disk_tib:g} TiB"
        yield Row(part, "hot search tables and indexes, kept in memory", hot, "bytes", "hot units alone")
        for name, amount in needs.items():
            yield Row(part, f"nodes by {name}", math.ceil(amount), "nodes", machine)
        yield Row(part, "nodes", nodes * (1 + w.database_standbys), "nodes", f"each with {w.database_standbys} standby")
        yield Row(part, "shards of each table", nodes * w.shards_per_node, "shards", f"{w.shards_per_node} a node")
        yield Row(
            part, "tenants of a shard", math.ceil(w.tenants / (nodes * w.shards_per_node)), "tenants", "spread evenly"
        )

    def _redis(self) -> Iterator[Row]:
        part, c, w = "Redis Cluster", self._c, self._w
        sessions = self.sessions * c["session_redis_bytes"]
        answers = self.misses * w.cache_seconds * c["answer_redis_bytes"]
        primaries = math.ceil((sessions + answers) / (w.redis_node_gib * GIB * w.memory_used))
        yield Row(part, "working memory", sessions, "bytes", f"{self.sessions:,.0f} sessions of a day")
        yield Row(part, "cached answers", answers, "bytes", f"{w.cache_seconds:g} s of answers at the peak")
        nodes = primaries * (1 + w.redis_replicas)
        yield Row(part, "nodes", nodes, "nodes", f"{w.redis_node_gib:g} GiB, each with {w.redis_replicas} replica")

    def _network(self) -> Iterator[Row]:
        part, c = "network at the peak", self._c
        answers = self.recalls * c["answer_bytes"]
        yield Row(part, "answers to callers", answers, "bytes/s", f"{c['answer_bytes']:,.0f} bytes an answer")
        inside = self.misses * c["answer_bytes"]
        yield Row(part, "answers of retrievers to gateways", inside, "bytes/s", "those that the cache does not have")
        log = self.turns * c["turn_log_bytes"] * max(1, self._w.database_standbys)
        yield Row(part, "write-ahead log", log, "bytes/s", f"{c['turn_log_bytes']:,.0f} bytes a turn, to each standby")
        yield Row(part, "segments to the object store", self.moves * c["segment_bytes"], "bytes/s", "each move")
