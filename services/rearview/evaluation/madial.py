"""`rearview eval madial`: do the right memories come back in a dialogue, in Chinese, in English, and across both.

Memories are remembered one by one with their dates; each user has a namespace. A dialogue is the query, up to the turn
before the reply under test. Recall@k of a dialogue is the share of its relevant memories among the first k hits.

Mixed: every second memory is kept in Chinese and the others in English. Statements: the query is the same statement in
the other language (or in its own), in one namespace of all users. Dialogues of both languages then run within the user
against the mixed memories.
"""

import time
from dataclasses import dataclass, field

from rearview.client import Client
from rearview.client.memory_calls import NewMemory
from rearview.domain.errors import RearviewError
from rearview.domain.text import Language
from rearview.evaluation.ingest import fresh_namespace
from rearview.evaluation.madial_files import Dialogue, Madial, Statement
from rearview.evaluation.measures import mean, percentile_milliseconds, recall_at
from rearview.evaluation.progress import Steps

DEPTHS = (5, 10, 20)
_BATCH = 50


@dataclass(slots=True)
class Timed:
    """Recalls, with the seconds each took."""

    client: Client
    seconds: list[float] = field(default_factory=list)

    def recall(self, namespace: str, top_k: int, *, query: str = "", dialogue: Dialogue | None = None) -> list[str]:
        """Return the names of the memories found, best first."""
        turns = [("assistant" if mine else "user", text) for mine, text in dialogue.turns[-64:]] if dialogue else []
        started = time.perf_counter()
        answer = self.client.recall(query, dialogue=turns, namespace=namespace, top_k=top_k, no_cache=True)
        self.seconds.append(time.perf_counter() - started)
        return [hit.memory.name for hit in answer.hits]


def evaluate_madial(client: Client, data: Madial, steps: Steps) -> dict[str, object]:
    """Return recall by depth over the dialogues of both languages, each against memories of its own language."""
    timed = Timed(client)
    recalls: dict[Language, dict[int, list[float]]] = {}
    for language in (Language.ZH, Language.EN):
        memories = _by_user(list(data.statements[language].values()))
        found = _dialogues(timed, memories, [d for d in data.dialogues if d.language is language], steps, language)
        recalls[language] = found
    both = {depth: [value for found in recalls.values() for value in found[depth]] for depth in DEPTHS}
    return {
        **{f"recall@{depth}": round(mean(values), 4) for depth, values in both.items()},
        **{
            f"{language}_recall@{depth}": round(mean(values), 4)
            for language, found in recalls.items()
            for depth, values in found.items()
        },
        "p50_ms": percentile_milliseconds(timed.seconds, 50),
        "p95_ms": percentile_milliseconds(timed.seconds, 95),
        "dialogues": len(data.dialogues),
    }


def evaluate_madial_mixed(client: Client, data: Madial, steps: Steps) -> dict[str, object]:
    """Return recall across languages; a memory of even number is kept in Chinese, of odd number in English."""
    timed = Timed(client)
    zh, en = data.statements[Language.ZH], data.statements[Language.EN]
    mixed = {number: zh[number] if number % 2 == 0 else en[number] for number in en}
    other = {number: en[number] if number % 2 == 0 else zh[number] for number in en}
    namespace, numbers = _remember(client, list(mixed.values()))
    asked = steps.start("statements", 2 * len(mixed))
    ranks: dict[str, list[tuple[float, float]]] = {"other": [], "same": []}
    for kind, queries in (("other", other), ("same", mixed)):
        for number, statement in queries.items():
            ranked = [[numbers[name]] for name in timed.recall(namespace, 5, query=statement.text) if name in numbers]
            ranks[kind].append((recall_at(1, ranked, {number}), recall_at(5, ranked, {number})))
            asked(1)
    dialogues = [Dialogue(d.user, d.language, d.turns, d.relevant & frozenset(mixed)) for d in data.dialogues]
    found = _dialogues(
        timed, _by_user(list(mixed.values())), [d for d in dialogues if d.relevant], steps, "both languages"
    )
    return {
        "other_language_r@1": round(mean(one for one, _ in ranks["other"]), 4),
        "other_language_r@5": round(mean(five for _, five in ranks["other"]), 4),
        "same_language_r@1": round(mean(one for one, _ in ranks["same"]), 4),
        **{f"dialogue_recall@{depth}": round(mean(values), 4) for depth, values in found.items()},
    }


def _by_user(statements: list[Statement]) -> dict[int, list[Statement]]:
    users: dict[int, list[Statement]] = {}
    for statement in statements:
        users.setdefault(statement.user, []).append(statement)
    return users


def _dialogues(
    timed: Timed, memories: dict[int, list[Statement]], dialogues: list[Dialogue], steps: Steps, name: str
) -> dict[int, list[float]]:
    namespaces = {user: _remember(timed.client, statements) for user, statements in memories.items()}
    asked = steps.start(f"dialogues in {name}", len(dialogues))
    recalls: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for dialogue in dialogues:
        namespace, numbers = namespaces[dialogue.user]
        names = timed.recall(namespace, max(DEPTHS), dialogue=dialogue)
        ranked = [[numbers[name]] for name in names if name in numbers]
        for depth in DEPTHS:
            recalls[depth].append(recall_at(depth, ranked, dialogue.relevant))
        asked(1)
    return recalls


def _remember(client: Client, statements: list[Statement]) -> tuple[str, dict[str, int]]:
    """Return a namespace that holds the statements, and the number of each memory name."""
    namespace = fresh_namespace(client, "eval-madial")
    numbers: dict[str, int] = {}
    for start in range(0, len(statements), _BATCH):
        batch = statements[start : start + _BATCH]
        results = client.batch_remember(
            [
                NewMemory(
                    statement.text,
                    labels={"emotion": statement.emotion, "scene": statement.scene},
                    occurred_at=statement.happened_at,
                )
                for statement in batch
            ],
            namespace=namespace,
        )
        for statement, result in zip(batch, results, strict=True):
            if isinstance(result, RearviewError):
                raise result
            numbers[result.memory.name] = statement.number
    return namespace, numbers
