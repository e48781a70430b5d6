"""`rearview eval locomo`: evidence-turn recall on LoCoMo conversations.

Each conversation is appended to a namespace of its own, session by session, with default settings. What counts: the
source events of the first k hits, where a hit cites at most 3 (one, when hits are turns, as by default); recall@k of a
question is the share of its evidence turns among them, averaged over the questions of categories 1 to 4.
"""

import time
from dataclasses import dataclass

from rearview.client import Client
from rearview.evaluation.ingest import OnProgress, append_session, fresh_namespace, wait_until_indexed
from rearview.evaluation.locomo_file import Conversation, Question, client_turn
from rearview.evaluation.measures import mean, percentile_milliseconds, recall_at
from rearview.evaluation.progress import Steps

DEPTHS = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """Mean recall by depth, latencies of the recalls, and how many questions were asked."""

    recall: dict[int, float]
    p50_ms: float
    p95_ms: float
    questions: int
    by_category: dict[int, float]

    def as_json(self) -> dict[str, object]:
        """Return the figures under the names of the command's output."""
        return {
            **{f"recall@{depth}": round(value, 4) for depth, value in self.recall.items()},
            "p50_ms": self.p50_ms,
            "p95_ms": self.p95_ms,
            "questions": self.questions,
            "recall@10_by_category": {str(k): round(v, 4) for k, v in sorted(self.by_category.items())},
        }


def evaluate_locomo(
    client: Client, conversations: list[Conversation], questions: list[Question], steps: Steps
) -> RecallFigures:
    """Append every conversation, wait until it is indexed, ask every question, and return the figures."""
    turn_count = sum(len(turns) for conversation in conversations for _, turns in conversation.sessions)
    appended = steps.start("append", turn_count)
    ingested = [_ingest(client, conversation, appended) for conversation in conversations]
    indexed = steps.start("index", turn_count)
    for namespace, turn_of in ingested:
        wait_until_indexed(client, namespace, lambda _: None)
        indexed(len(turn_of))
    asked = steps.start("ask", len(questions))
    recalls: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    by_category: dict[int, list[float]] = {}
    seconds: list[float] = []
    for question in questions:
        namespace, turn_of = ingested[question.conversation]
        started = time.perf_counter()
        answer = client.recall(
            question.text,
            namespace=namespace,
            top_k=max(DEPTHS),
            reference_time=conversations[question.conversation].ended_at,
            no_cache=True,
        )
        seconds.append(time.perf_counter() - started)
        cited = [[turn_of[event] for event in hit.events[:3] if event in turn_of] for hit in answer.hits]
        for depth in DEPTHS:
            recalls[depth].append(recall_at(depth, cited, question.evidence))
        by_category.setdefault(question.category, []).append(recall_at(10, cited, question.evidence))
        asked(1)
    return RecallFigures(
        recall={depth: mean(values) for depth, values in recalls.items()},
        p50_ms=percentile_milliseconds(seconds, 50),
        p95_ms=percentile_milliseconds(seconds, 95),
        questions=len(questions),
        by_category={category: mean(values) for category, values in by_category.items()},
    )


def _ingest(client: Client, conversation: Conversation, appended: OnProgress) -> tuple[str, dict[str, str]]:
    """Return the namespace and the file's turn id of each event name."""
    namespace = fresh_namespace(client, "eval-locomo")
    turn_of: dict[str, str] = {}
    for session, turns in conversation.sessions:
        names = append_session(
            client,
            namespace,
            session,
            [client_turn(turn) for turn in turns],
            appended,
        )
        turn_of.update(zip(names, (turn.turn_id for turn in turns), strict=True))
    return namespace, turn_of
