"""`rearview bench ingest`: how fast conversations become memories."""

import time

from rearview.client import Client
from rearview.evaluation.bench_load import BenchFigures, fill, warmed_up_namespace
from rearview.evaluation.bench_texts import bench_sessions
from rearview.evaluation.ingest import wait_until_indexed
from rearview.evaluation.progress import Steps


def bench_ingest(client: Client, memories: int, clients: int, steps: Steps) -> BenchFigures:
    """Append whole sessions and wait until all of their turns are in the search index.

    The durations are those of a session's append and end; the rate counts turns from the first append until the last
    is indexed.
    """
    namespace = warmed_up_namespace(client)
    started = time.perf_counter()
    seconds = fill(client, namespace, bench_sessions(memories), clients, steps.start("append", memories))
    wait_until_indexed(client, namespace, steps.track("index", memories))
    return BenchFigures(namespace, seconds, memories, time.perf_counter() - started)
