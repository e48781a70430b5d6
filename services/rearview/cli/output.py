"""How commands speak: to a person in colour, to a program as one JSON object on the last line of stdout."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rearview.domain.errors import RearviewError
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DEFAULT_FOLDER, HOME_VARIABLE

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar=HOME_VARIABLE,
        help=f"Folder in which the stack keeps everything; default ./{DEFAULT_FOLDER}.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line of stdout.")]

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_json(content: Mapping[str, object]) -> None:
    """Print one JSON object on one line of stdout."""
    typer.echo(json.dumps(content, ensure_ascii=False))


def print_figures(figures: Mapping[str, object], as_json: bool) -> None:
    """Print names and values: one JSON object, or a table for a person."""
    if as_json:
        print_json(figures)
        return
    table = Table(box=None, show_header=False)
    for name, value in figures.items():
        table.add_row(name, "-" if value is None else escape(str(value)))
    out.print(table)


@contextmanager
def failures(as_json: bool) -> Iterator[None]:
    """Turn expected errors into a message on stderr (and a JSON object where that was asked for) and exit code 1."""
    try:
        yield
    except BrokenPipeError:
        raise  # who read what is printed has gone: nobody is left to be told
    except (StackError, RearviewError, ValueError, OSError) as error:
        message = _message(error)
        err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
        if as_json:
            reason = getattr(error, "reason", None)
            print_json({"error": message} | ({"reason": reason} if reason else {}))
        raise typer.Exit(1) from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
