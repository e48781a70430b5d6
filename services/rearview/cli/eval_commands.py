"""`rearview eval ...`: measuring quality with default settings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.cli import cache_pairs_command, scenario_command
from rearview.cli.borrowed_stack import admin_client
from rearview.cli.output import DataDirOption, JsonOption, err, failures, print_figures

if TYPE_CHECKING:
    from rearview.domain.text import PiiCategory, RedactedSpan

commands = typer.Typer(
    name="eval",
    help="Measure quality with default settings: recall through the public API, facts and redaction in this process.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    scenario_command.register(commands)
    cache_pairs_command.register(commands)
    app.add_typer(commands)


@commands.command()
def locomo(
    file: Annotated[Path, typer.Argument(help="A LoCoMo file (JSON).", exists=True, dir_okay=False)],
    corrections: Annotated[
        Path | None, typer.Option(help="Corrected evidence, as in locomo-audit.", exists=True, dir_okay=False)
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence-turn recall over LoCoMo conversations, categories 1 to 4.

    A hit counts for the source events it cites (at most 3); recall@k is the share of a question's evidence turns among
    the first k hits, averaged over questions.

    Example:

      rearview eval locomo locomo10.json --corrections errors.json --json
    """
    from rearview.evaluation.locomo import evaluate_locomo
    from rearview.evaluation.locomo_file import read_locomo
    from rearview.evaluation.progress import shown_steps

    with failures(as_json):
        conversations, questions = read_locomo(file, corrections)
        with admin_client(data_dir) as client, shown_steps(err) as steps:
            figures = evaluate_locomo(client, conversations, questions, steps)
    print_figures(figures.as_json(), as_json)


@commands.command()
def madial(
    folder: Annotated[Path, typer.Argument(help="A folder with MADial-Bench files.", exists=True, file_okay=False)],
    mixed: Annotated[bool, typer.Option("--mixed", help="Memories half Chinese, half English; ask across.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recall of the memories that a dialogue should bring back, in Chinese and English.

    Without --mixed, memories and dialogues are of one language, within the user. With --mixed, every second memory is
    kept in the other language, and statements and dialogues of both languages are asked.

    Example:

      rearview eval madial madial/ --mixed --json
    """
    from rearview.evaluation.madial import evaluate_madial, evaluate_madial_mixed
    from rearview.evaluation.madial_files import read_madial
    from rearview.evaluation.progress import shown_steps

    with failures(as_json):
        data = read_madial(folder)
        evaluate = evaluate_madial_mixed if mixed else evaluate_madial
        with admin_client(data_dir) as client, shown_steps(err) as steps:
            figures = evaluate(client, data, steps)
    print_figures(figures, as_json)


@commands.command()
def repetitions(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder with MADial-Bench files, for its statements too.", exists=True, file_okay=False),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Whether what is known is recognised when it is said again, and nothing else is taken for it.

    Statements of the shipped set are said by a user, then contrasts of them, then each again lightly and freely
    reworded, and in the other language. Each count is `found/all`; the texts that went wrong are listed for the half
    that is for tuning alone.

    Example:

      rearview eval repetitions madial/ --json
    """
    from rearview.evaluation.madial_files import read_madial
    from rearview.evaluation.progress import shown_steps
    from rearview.evaluation.repetitions import evaluate_repetitions

    with failures(as_json):
        data = read_madial(folder) if folder else None
        with admin_client(data_dir) as client, shown_steps(err) as steps:
            figures = evaluate_repetitions(client, data, steps)
    print_figures(figures, as_json)


@commands.command()
def pii(
    file: Annotated[
        Path,
        typer.Argument(help="Texts with marked spans: presidio's JSON, or JSON Lines.", exists=True, dir_okay=False),
    ],
    categories: Annotated[
        str | None, typer.Option(help="Which categories count, separated by commas; the default policy's unless given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Precision and recall of redaction over marked texts. Runs in this process: no stack is needed.

    A found span counts when a marked span of the same category shares at least 0.9 of their union with it, in
    characters. presidio's names of types (PHONE_NUMBER, CREDIT_CARD, US_SSN, ...) are mapped onto ours; types that are
    no category here are left out.

    Example:

      rearview eval pii synth_dataset.json --categories PHONE,EMAIL,BANK_CARD --json
    """
    from rearview.evaluation.pii import evaluate_pii
    from rearview.evaluation.pii_file import read_marked_texts

    with failures(as_json):
        chosen = _categories(categories)
        figures = evaluate_pii(read_marked_texts(file), _found, chosen)
    print_figures(figures, as_json)


def _found(text: str, categories: Collection[PiiCategory]) -> Sequence[RedactedSpan]:
    from rearview.language.pii import PatternRedactor

    return PatternRedactor().redact(text, categories).spans


def _categories(named: str | None) -> frozenset[PiiCategory]:
    from rearview.domain.text import DEFAULT_CATEGORIES, PiiCategory
    from rearview.evaluation.pii_file import category_of

    if not named:
        return DEFAULT_CATEGORIES
    chosen = {name: category_of(name) for name in named.replace(" ", "").upper().split(",") if name}
    unknown = [name for name, category in chosen.items() if category is None]
    if unknown:
        raise ValueError(f"no such category: {', '.join(unknown)}; there are {', '.join(PiiCategory)}")
    return frozenset(category for category in chosen.values() if category is not None)


@commands.command()
def facts(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Utterances with expected facts (YAML); without it the shipped set.", exists=True, dir_okay=False
        ),
    ] = None,
    attributes: Annotated[
        Path | None,
        typer.Option(help="Your own file of attributes beside the shipped ones.", exists=True, dir_okay=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """How well facts are read out of turns, Chinese, English and mixed.

    Runs the extractor in this process; no service is asked. Utterances with odd ids are for tuning, those with even ids
    are held out: failures are listed for the former alone. False supersessions count facts that a one-off, a
    hypothetical or a third person would wrongly put in the place of a user's own.

    Example:

      rearview eval facts --json
    """
    from rearview.evaluation.facts import evaluate_facts, read_facts_file
    from rearview.language.facts import RuleFactExtractor, load_attributes, load_topics

    with failures(as_json):
        figures = evaluate_facts(
            read_facts_file(file), RuleFactExtractor(load_attributes(attributes), load_topics(attributes))
        )
    print_figures(figures.as_json(), as_json)


@commands.command()
def rounds(
    seed: Annotated[int, typer.Option(help="Which values fill the templates.")] = 0,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """A thousand rounds of dialogue in two languages, two or three memories each, then 200 questions of six kinds.

    A question is answered rightly when every turn that answers it is among the source events of the first five hits,
    and the present value of a changed fact before the old one. Half of the templates are held out: what went wrong is
    listed for the other half alone.

    Example:

      rearview eval rounds --json
    """
    from rearview.evaluation.progress import shown_steps
    from rearview.evaluation.rounds import evaluate_rounds

    with failures(as_json), admin_client(data_dir) as client, shown_steps(err) as steps:
        figures = evaluate_rounds(client, steps, seed=seed)
    print_figures(figures, as_json)
