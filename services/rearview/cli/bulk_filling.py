"""What the benchmarks fill in bulk, and ask about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rearview.cli.bulk_fill import BulkFill
from rearview.cli.bulk_turns import TURNS_PER_SESSION
from rearview.client import Client
from rearview.embedded.paths import DataFolder
from rearview.evaluation.bench_recall import Filling
from rearview.evaluation.bench_texts import bench_questions, bench_sessions
from rearview.evaluation.ingest import fresh_namespace
from rearview.evaluation.progress import Steps

MOST_MADE_UP = 4_000
ASKED_EVERY = 40
_NEIGHBOURS_SEED = 1


class BulkFilling:
    """Fills namespaces with turns composed of the lines of a file, or of made-up statements."""

    def __init__(
        self,
        folder: DataFolder,
        client: Client,
        texts: Path | None,
        steps: Steps,
        *,
        neighbours: int = 0,
        turns_per_session: int = TURNS_PER_SESSION,
    ) -> None:
        """`neighbours` units are put into another namespace first."""
        self._folder = folder
        self._client = client
        self._texts = texts
        self._steps = steps
        self._neighbours = neighbours
        self._turns_per_session = turns_per_session

    def filling(self, memories: int, questions: int) -> Filling:
        """Return what fills a namespace with so many units. Raises: ValueError: the file holds too few texts."""
        stored, asked = self._read(memories, questions)

        def filled(namespace: str) -> Sequence[str]:
            fill = BulkFill(self._folder, stored, self._steps)
            if self._neighbours:
                fill.fill(fresh_namespace(self._client, "bench"), self._neighbours, seed=_NEIGHBOURS_SEED)
            fill.fill(namespace, memories, turns_per_session=self._turns_per_session)
            return asked

        return filled

    def _read(self, memories: int, questions: int) -> tuple[list[str], list[str]]:
        if self._texts is None:
            count = min(memories, MOST_MADE_UP)
            statements = [turn.content for session in bench_sessions(count) for turn in session.turns]
            return statements, bench_questions(count, questions)
        lines = [line.strip() for line in self._texts.read_text(encoding="utf-8").splitlines() if line.strip()]
        if len(lines) < 2 * ASKED_EVERY:
            raise ValueError(f"{self._texts} holds {len(lines)} texts; at least {2 * ASKED_EVERY} are needed")
        return [line for at, line in enumerate(lines) if at % ASKED_EVERY], lines[::ASKED_EVERY]
