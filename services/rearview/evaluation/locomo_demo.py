"""The demo's second part: a LoCoMo conversation given by path."""

from pathlib import Path

from rich.console import Console

from rearview.client import Client
from rearview.evaluation.claims import Claims
from rearview.evaluation.locomo import evaluate_locomo
from rearview.evaluation.locomo_file import read_locomo
from rearview.evaluation.progress import shown_steps

SHOWN_QUESTIONS = 40


def show_locomo(client: Client, file: Path, claims: Claims) -> None:
    """Append the file's first conversation and ask its first questions. Raises: ValueError: not a LoCoMo file."""
    conversations, questions = read_locomo(file)
    asked = [question for question in questions if question.conversation == 0][:SHOWN_QUESTIONS]
    claims.console.rule(f"[bold]LoCoMo: {conversations[0].name}")
    with shown_steps(Console(stderr=True)) as steps:
        figures = evaluate_locomo(client, conversations[:1], asked, steps)
    for depth, value in figures.recall.items():
        claims.console.print(f"  recall@{depth} of the evidence turns over {figures.questions} questions: {value:.3f}")
    claims.check("more than half of the evidence is among the first 10 hits", figures.recall[10] > 0.5)
