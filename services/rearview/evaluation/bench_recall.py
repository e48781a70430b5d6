"""`rearview bench recall`: how long an agent waits for the right memories."""

from collections.abc import Callable, Sequence

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

Filling = Callable[[str], Sequence[str]]
"""Fills the namespace of this name, in which nothing is yet, and returns questions about what is in it, in any number;
a benchmark takes as many as it needs, again from the first one if there are fewer."""


def through_the_api(client: Client, memories: int, questions: int, steps: Steps) -> Filling:
    """Return what fills a namespace as agents do, with made-up turns."""

    def filled(namespace: str) -> Sequence[str]:
        fill(client, namespace, bench_sessions(memories), FILLING_CLIENTS, steps.start("append", memories))
        wait_until_indexed(client, namespace, steps.track("index", memories))
        return bench_questions(memories, questions)

    return filled


def bench_recall(client: Client, filling: Filling, clients: int, queries: int, steps: Steps) -> BenchFigures:
    """Fill a namespace, then ask for the first ten memories of each question, past every cache, and measure that."""
    namespace = warmed_up_namespace(client)
    known = filling(namespace)
    questions = [known[at % len(known)] for at in range(WARM_UP_TURNS + queries)]

    def ask(question: str) -> Timed:
        return lambda: timed(lambda: client.recall(question, namespace=namespace, top_k=TOP_K, no_cache=True))

    run_clients((ask(question) for question in questions[:WARM_UP_TURNS]), clients, lambda _: None)
    seconds, elapsed = run_clients(
        (ask(question) for question in questions[WARM_UP_TURNS:]), clients, steps.start("recall", queries)
    )
    return BenchFigures(namespace, seconds, queries, elapsed)
