"""`rearview bench recall`: how long an agent waits for the right memories."""

from rearview.client import Client
from rearview.evaluation.bench_load import (
    WARM_UP_TURNS,
    BenchFigures,
    Timed,
    fill,
    run_clients,
    timed,
    warmed_up_namespace,
)
from rearview.evaluation.bench_texts import bench_questions, bench_sessions
from rearview.evaluation.ingest import wait_until_indexed
from rearview.evaluation.progress import Steps

TOP_K = 10
FILLING_CLIENTS = 4


def bench_recall(client: Client, memories: int, clients: int, queries: int, steps: Steps) -> BenchFigures:
    """Fill a namespace, then ask for the first ten memories of each question, past every cache, and measure that."""
    namespace = warmed_up_namespace(client)
    fill(client, namespace, bench_sessions(memories), FILLING_CLIENTS, steps.start("append", memories))
    wait_until_indexed(client, namespace, steps.track("index", memories))

    def ask(question: str) -> Timed:
        return lambda: timed(lambda: client.recall(question, namespace=namespace, top_k=TOP_K, no_cache=True))

    questions = bench_questions(memories, WARM_UP_TURNS + queries)
    run_clients((ask(question) for question in questions[:WARM_UP_TURNS]), clients, lambda _: None)
    seconds, elapsed = run_clients(
        (ask(question) for question in questions[WARM_UP_TURNS:]), clients, steps.start("recall", queries)
    )
    return BenchFigures(namespace, seconds, queries, elapsed)
