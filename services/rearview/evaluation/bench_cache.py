"""`rearview bench cache`: how long an agent waits for an answer that was given before."""

from rearview.client import Client, Turn
from rearview.evaluation.bench_load import Timed, fill, run_clients, timed, warmed_up_namespace
from rearview.evaluation.bench_recall import FILLING_CLIENTS, TOP_K
from rearview.evaluation.bench_texts import bench_questions, bench_sessions
from rearview.evaluation.ingest import wait_until_indexed
from rearview.evaluation.measures import percentile_milliseconds
from rearview.evaluation.progress import Steps

_LIVE_SEED = 2
_HAN_BEGINS = "\u3400"
_REPEATED = 10
"""In the live mix, so many questions are asked over and over."""


def bench_cache(client: Client, memories: int, queries: int, steps: Steps) -> dict[str, object]:
    """Fill a namespace; ask each question past the cache, anew, again and in other words; then ask while it grows."""
    namespace = warmed_up_namespace(client)
    fill(client, namespace, bench_sessions(memories), FILLING_CLIENTS, steps.start("append", memories))
    wait_until_indexed(client, namespace, steps.track("index", memories))
    questions = list(dict.fromkeys(bench_questions(memories, queries)))
    hits: dict[str, int] = {}

    def measure(name: str, asked: list[str], *, no_cache: bool = False) -> list[float]:
        hits[name] = 0

        def ask(question: str) -> Timed:
            def call() -> None:
                answer = client.recall(question, namespace=namespace, top_k=TOP_K, no_cache=no_cache)
                hits[name] += answer.cache.hit

            return lambda: timed(call)

        return run_clients((ask(question) for question in asked), 1, steps.start(name, len(asked)))[0]

    uncached = measure("uncached", questions, no_cache=True)
    measure("first", questions)
    exact = measure("exact", questions)
    semantic = measure("semantic", [in_other_words(question) for question in questions])
    live = _live_mix(client, namespace, questions[:_REPEATED], queries, steps)
    return {
        "uncached_p50_ms": percentile_milliseconds(uncached, 50),
        "exact_p50_ms": percentile_milliseconds(exact, 50),
        "semantic_p50_ms": percentile_milliseconds(semantic, 50),
        "exact_hit_rate": round(hits["exact"] / len(questions), 4),
        "semantic_hit_rate": round(hits["semantic"] / len(questions), 4),
        "live_hit_rate": round(live, 4),
    }


def in_other_words(question: str) -> str:
    """Return the question as somebody politer would ask it."""
    return f"请问{question}" if question[:1] >= _HAN_BEGINS else f"Please, {question}"


def _live_mix(client: Client, namespace: str, questions: list[str], calls: int, steps: Steps) -> float:
    """Append and ask in turns; return the share of hits among the questions, all but the first of each repeated."""
    said = [turn.content for session in bench_sessions(calls, seed=_LIVE_SEED) for turn in session.turns]
    done, hits = steps.start("live", 2 * calls), 0
    for at, text in enumerate(said):
        client.append_events(f"live-{at // 10}", [Turn("user", text)], namespace=namespace)
        question = questions[at % len(questions)]
        hits += client.recall(question, namespace=namespace, top_k=TOP_K).cache.hit
        done(2)
    return hits / len(said) if said else 0.0
