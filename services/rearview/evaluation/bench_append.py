"""`rearview bench append`: how long an agent waits until a turn is safe."""

from functools import partial

from rearview.client import Client
from rearview.evaluation.bench_load import BenchFigures, Timed, run_clients, timed, warmed_up_namespace
from rearview.evaluation.bench_texts import BenchSession, bench_sessions
from rearview.evaluation.ingest import wait_until_indexed
from rearview.evaluation.progress import Steps


def bench_append(client: Client, memories: int, clients: int, steps: Steps, turns_per_call: int = 2) -> BenchFigures:
    """Append turns, each client in a session of its own at a time, and measure the acknowledgements of the calls.

    Returns when all of them are indexed as well; that time is not counted.
    """
    namespace = warmed_up_namespace(client)
    appended = steps.start("append", memories)
    acknowledged: list[float] = []

    def converse(session: BenchSession) -> Timed:
        def all_turns() -> float:
            spent = 0.0
            for start in range(0, len(session.turns), turns_per_call):
                turns = session.turns[start : start + turns_per_call]
                call = partial(client.append_events, session.name, turns, namespace=namespace)
                seconds = timed(call)
                acknowledged.append(seconds)
                spent += seconds
                appended(len(turns))
            return spent

        return all_turns

    sessions = list(bench_sessions(memories))
    _, elapsed = run_clients((converse(session) for session in sessions), clients, lambda _: None)
    for session in sessions:
        client.end_session(session.name, namespace=namespace)
    wait_until_indexed(client, namespace, steps.track("index", memories))
    return BenchFigures(namespace, acknowledged, memories, elapsed)
