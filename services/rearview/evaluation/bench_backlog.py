"""`rearview bench backlog`: how long a tenant's turn waits for its memory while another tenant has a backlog."""

from collections.abc import Iterator
from contextlib import contextmanager

from rearview.client import Client, Turn
from rearview.domain.ids import new_id
from rearview.evaluation.bench_load import fill, timed
from rearview.evaluation.bench_texts import bench_sessions
from rearview.evaluation.ingest import append_session, fresh_namespace, wait_until_indexed
from rearview.evaluation.measures import percentile_milliseconds
from rearview.evaluation.progress import Steps
from rearview.evaluation.scenarios.stage import OpenClient

_TURNS_OF_THE_OTHER = 20


def bench_backlog(
    operator: Client, open_with: OpenClient, memories: int, clients: int, steps: Steps
) -> dict[str, object]:
    """Append sessions of a busy tenant as fast as they go; then, as another one, turns one after the other, each waited
    for until it is indexed. Both tenants are erased at the end; with no turn of the busy one waiting any more by then,
    there was no backlog to measure with, as `waiting_last` tells."""
    with _tenant(operator, open_with) as other, _tenant(operator, open_with) as busy:
        calm = fresh_namespace(other, "bench")
        alone = [_until_indexed(other, calm, text) for text in _texts(seed=1)]
        crowded = fresh_namespace(busy, "bench")
        fill(busy, crowded, bench_sessions(memories), clients, steps.start("append", memories))
        first = _waiting(busy, crowded)
        asked = steps.start("wait", _TURNS_OF_THE_OTHER)
        beside = list[float]()
        for text in _texts(seed=2):
            beside.append(_until_indexed(other, calm, text))
            asked(1)
        last = _waiting(busy, crowded)
    return {
        "waiting_first": first,
        "waiting_last": last,
        **{f"alone_p{percent}_ms": percentile_milliseconds(alone, percent) for percent in (50, 95)},
        **{f"beside_p{percent}_ms": percentile_milliseconds(beside, percent) for percent in (50, 95)},
    }


@contextmanager
def _tenant(operator: Client, open_with: OpenClient) -> Iterator[Client]:
    name = f"bench-{new_id().hex[-12:]}"
    secret = operator.create_tenant(name).secret
    try:
        with open_with(secret) as client:
            yield client
    finally:
        operator.delete_tenant(name)


def _texts(seed: int) -> list[str]:
    return [turn.content for session in bench_sessions(_TURNS_OF_THE_OTHER, seed=seed) for turn in session.turns]


def _until_indexed(client: Client, namespace: str, text: str) -> float:
    def append() -> None:
        append_session(client, namespace, f"calm-{new_id().hex[-12:]}", [Turn("user", text)], lambda _: None)
        wait_until_indexed(client, namespace, lambda _: None)

    return timed(append)


def _waiting(client: Client, namespace: str) -> int:
    sessions = client.list_sessions(namespace=namespace, page_size=1000)
    return sum(session.event_count - session.indexed_event_count for session in sessions)
