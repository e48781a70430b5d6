"""The cross-encoder stage, where one is configured: within a time budget, and never needed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rearview.domain.embedding_errors import ModelError
from rearview.domain.recall import RecallQuery
from rearview.domain.relevance import blend
from rearview.ports.reranker import Reranker
from rearview.retriever.answer import Content
from rearview.retriever.candidates import Candidate
from rearview.retriever.question import Question

RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Reranked:
    """Candidates in their new order. `complete` is False when the reranker failed or did not reach all of them."""

    ranked: list[tuple[Candidate, Content]]
    complete: bool


class RerankStage:
    """Lets a cross-encoder have its share in the relevance of the best candidates."""

    def __init__(self, reranker: Reranker, *, depth: int = 40, budget_seconds: float = 0.5) -> None:
        self._reranker = reranker
        self._budget_seconds = budget_seconds
        self.depth = depth

    @property
    def name(self) -> str:
        """The reranker's name."""
        return self._reranker.name

    async def apply(
        self, ranked: Sequence[tuple[Candidate, Content]], query: RecallQuery, question: Question, left_seconds: float
    ) -> Reranked:
        """Return the candidates reranked; those beyond `depth`, or not reached in time, keep their relevance."""
        head = list(ranked[: self.depth])
        budget = min(self._budget_seconds, left_seconds)
        if not head:
            return Reranked(list(ranked), complete=True)
        try:
            answer = await self._reranker.rerank(
                question.text, [content.text or " " for _, content in head], budget_seconds=budget
            )
        except ModelError:
            return Reranked(list(ranked), complete=False)
        rescored = [
            (_reranked(candidate, float(answer.scores[at]), query.rerank_weight), content)
            if at < answer.scored
            else (candidate, content)
            for at, (candidate, content) in enumerate(head)
        ]
        rescored.sort(key=lambda pair: -pair[0].score.total)
        return Reranked(rescored + list(ranked[self.depth :]), complete=answer.scored == len(head))


def _reranked(candidate: Candidate, rerank_score: float, weight: float) -> Candidate:
    score = candidate.score
    relevance = blend(score.relevance, rerank_score, weight)
    # All other parts of the score stay.
    total = min(score.total + score.relevance_weight * (relevance - score.relevance), 1.0)
    return replace(candidate, score=replace(score, total=total, relevance=relevance, rerank_score=rerank_score))
