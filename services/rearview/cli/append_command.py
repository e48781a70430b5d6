"""`rearview append`: transcripts into memory."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.cli.connection import GatewayOption, NamespaceOption, connected
from rearview.cli.output import DataDirOption, JsonOption, err, print_figures

if TYPE_CHECKING:
    from rearview.client import Client, Turn
    from rearview.client.transcripts import Said

TURNS_A_CALL = 20


class Format(StrEnum):
    """What a transcript may be written in."""

    auto = "auto"
    jsonl = "jsonl"
    openai = "openai"
    anthropic = "anthropic"
    sharegpt = "sharegpt"
    locomo = "locomo"


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(append)


def append(
    file: Annotated[Path, typer.Argument(help="A transcript.", exists=True, dir_okay=False)],
    format: Annotated[Format, typer.Option(help="How it is written; auto tells all but locomo apart.")] = Format.auto,
    session: Annotated[str, typer.Option(help="The session, where the file names none.", show_default="file")] = "",
    end: Annotated[bool, typer.Option("--end/--keep-open", help="End each session after its last turn.")] = True,
    wait: Annotated[bool, typer.Option("--wait", help="Return when all turns are indexed.")] = False,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Append the conversations of a file, turn by turn.

    Reads JSON Lines (a message or a conversation a line), messages of the OpenAI and Anthropic chat APIs with their
    tool calls, ShareGPT and LoCoMo. A file that is appended again, after a failure or by mistake, is stored once; turns
    that were forgotten stay forgotten, and are counted.

    Examples:

      rearview append chat.jsonl

      rearview append export.json --format openai --session chat-7 --wait
    """
    from rearview.evaluation.ingest import wait_until_indexed
    from rearview.evaluation.progress import shown_steps

    sessions: dict[str, None] = {}
    stored = forgotten = 0
    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        total = sum(1 for _ in _turns(file, format, session))  # a wrong file is found out before anything is stored
        with shown_steps(err) as steps:
            appended = steps.start("append", total)
            for name, turns in _batches(_turns(file, format, session)):
                kept = _append(client, name, turns)
                stored, forgotten = stored + kept, forgotten + len(turns) - kept
                sessions[name] = None
                appended(len(turns))
            if end:
                ended = steps.start("end sessions", len(sessions))
                for name in sessions:
                    client.end_session(name)
                    ended(1)
            if wait:
                wait_until_indexed(client, namespace, steps.track("index", total))
    print_figures({"turns": stored, "sessions": len(sessions), "forgotten_before": forgotten}, as_json)


def _turns(file: Path, format: Format, session: str) -> Iterator[Said]:
    from rearview.client.transcripts import read_transcript

    if format is not Format.locomo:
        return read_transcript(file, format=format.value, session=session)
    from rearview.evaluation.locomo_file import read_locomo_turns

    return read_locomo_turns(file)


def _batches(said: Iterator[Said]) -> Iterator[tuple[str, list[Turn]]]:
    """Yield consecutive turns of one session, as many as a call takes."""
    turns: list[Turn] = []
    session = ""
    for one in said:
        if turns and (one.session != session or len(turns) == TURNS_A_CALL):
            yield session, turns
            turns = []
        session = one.session
        turns.append(one.turn)
    if turns:
        yield session, turns


def _append(client: Client, session: str, turns: list[Turn]) -> int:
    """Append turns and return how many were stored: turns that were forgotten are refused, and left out."""
    from rearview.domain.errors import PreconditionFailed

    try:
        client.append_events(session, turns)
    except PreconditionFailed:
        if len(turns) == 1:
            return 0
        return sum(_append(client, session, [turn]) for turn in turns)
    return len(turns)
