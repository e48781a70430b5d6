"""`rearview export` and `rearview import`: namespaces as files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from errno import EISDIR
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.output import DataDirOption, JsonOption, err, print_figures

if TYPE_CHECKING:
    from rearview.client import Client
    from rearview.evaluation.progress import Steps

STDOUT = "-"

ExportedNamespaceOption = Annotated[
    str | None, typer.Option("--namespace", "-n", envvar="REARVIEW_NAMESPACE", help="Namespace; default: default.")
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", help="Into which namespace; default: that of the export, made where there is none."
    ),
]


class Format(StrEnum):
    """What a file may be written in."""

    rearview = "rearview"
    mem0 = "mem0"
    hindsight = "hindsight"


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("export")(export_namespace)
    app.command("import")(import_file)


def export_namespace(
    file: Annotated[str, typer.Argument(help="File to write; - for stdout.")],
    namespace: ExportedNamespaceOption = None,
    every: Annotated[bool, typer.Option("--all", help="Every namespace that the key may read, one by one.")] = False,
    history: Annotated[
        bool, typer.Option("--history/--active", help="With superseded and inactive memories, or without.")
    ] = True,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write all that a namespace holds to a file: turns, memories, vectors.

    The file appears under its name when it is whole. With - the figures go to stderr.

    Examples:

      rearview export backup.jsonl

      rearview export - --namespace team | zstd > team.jsonl.zst
    """
    from rearview.evaluation.progress import shown_steps

    with connected(gateway, data_dir, namespace=namespace or "default", as_json=as_json and file != STDOUT) as client:
        names = [client.namespace]
        if every:
            names = sorted(one.name.removeprefix("namespaces/") for one in client.list_namespaces())
        counts = {"namespaces": len(names), "events": 0, "memories": 0, "bytes": 0}
        with _opened(file) as out, shown_steps(err) as steps:
            for name in names:
                _export(client, name, history, out, steps, counts)
    if file != STDOUT:
        print_figures(counts, as_json)
    else:
        err.print(", ".join(f"{name} {count}" for name, count in counts.items()))


def import_file(
    file: Annotated[Path, typer.Argument(help="A file of exports.", exists=True, dir_okay=False)],
    namespace: TargetOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count, store nothing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an import that stopped on its way.")] = False,
    format: Annotated[Format, typer.Option("--from", help="What the file is an export of.")] = Format.rearview,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in a file of exports.

    The file is checked before anything is sent. What is there already stays as it is, what was forgotten stays
    forgotten. Exit code 1: nothing or not all of it was taken in, see --resume. Exit code 3: all of it was, but for
    lines that are named.

    Examples:

      rearview import backup.jsonl --dry-run

      rearview import backup.jsonl --namespace copy --resume
    """
    from google.protobuf.json_format import MessageToDict

    from rearview.evaluation.progress import shown_steps

    with (
        connected(gateway, data_dir, namespace=namespace or "default", as_json=as_json) as client,
        _as_exported(file, format, namespace) as exported,
        shown_steps(err) as steps,
    ):
        targets = _targets(exported, namespace)
        if not dry_run:
            _make_namespaces(client, targets)
        target = targets[0] if len(targets) == 1 else namespace
        result = client.import_memories(
            exported, target, dry_run=dry_run, resume=resume, on_lines=_shown(steps, exported)
        )
    figures = MessageToDict(result, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    problems = figures.pop("problems")
    counts = {name: value if isinstance(value, bool) else int(value) for name, value in figures.items()}
    for problem in problems:
        err.print(problem, markup=False, soft_wrap=True)
    print_figures({**counts, "problems": problems} if as_json else counts, as_json)
    if result.problem_count:
        raise typer.Exit(3)


def _export(client: Client, namespace: str, history: bool, out: TextIO, steps: Steps, counts: dict[str, int]) -> None:
    from rearview.domain.exchange.reading import read
    from rearview.domain.exchange.records import End, Manifest

    shown: Callable[[int], None] | None = None
    for line in client.export_memories(namespace, include_history=history):
        if shown is None:
            manifest = read(line)
            total = manifest.events + manifest.memories if isinstance(manifest, Manifest) else 0
            shown = steps.start(f"export {namespace}", total)
        else:
            shown(1)
        out.write(f"{line}\n")
        counts["bytes"] += len(line.encode()) + 1
    end = read(line)
    if isinstance(end, End):
        counts["events"] += end.events
        counts["memories"] += end.memories


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == STDOUT:
        yield sys.stdout
        return
    path = Path(file)
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "is a folder; name a file", file)
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as out:
            unfinished.chmod(0o600)  # it holds what people said
            yield out
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _as_exported(file: Path, format: Format, namespace: str | None) -> Iterator[Path]:
    """Yield the file, or what a peer's file is as an export, for as long as the block lasts."""
    if format is Format.rearview:
        yield file
        return
    from rearview.client.peers import convert

    with TemporaryDirectory(prefix="rearview-import-") as folder:  # for its owner alone
        converted = Path(folder) / file.name
        convert(file, "mem0" if format is Format.mem0 else "hindsight", namespace or "default", converted)
        yield converted


def _targets(file: Path, namespace: str | None) -> list[str]:
    from rearview.client.export_file import checked_parts

    parts = checked_parts(file)
    return [namespace] if namespace else [part.manifest.namespace for part in parts]


def _make_namespaces(client: Client, namespaces: list[str]) -> None:
    from rearview.domain.errors import AlreadyExists

    for name in namespaces:
        with suppress(AlreadyExists):
            client.create_namespace(name)


def _shown(steps: Steps, file: Path) -> Callable[[int, int], None]:
    shown: list[Callable[[int], None]] = []

    def on_lines(done: int, total: int) -> None:
        if not shown:
            shown.append(steps.track(f"import {file.name}", total))
        shown[0](done)

    return on_lines
