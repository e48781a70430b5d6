"""`rearview bench ...`: measuring speed and size on this machine, through the public API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.cli.borrowed_stack import admin_client, borrowed_stack, client_of, opener_of
from rearview.cli.output import DataDirOption, JsonOption, err, failures, print_figures
from rearview.embedded.paths import DataFolder

if TYPE_CHECKING:
    from rearview.client import Client
    from rearview.evaluation.bench_load import BenchFigures
    from rearview.evaluation.progress import Steps

MIB = 1024 * 1024
MOST_THROUGH_THE_API = 5_000
MOST_COMPARED = 100
"""Of so many questions the vector search is made again, exactly."""

commands = typer.Typer(
    name="bench",
    help="Measure speed and size through the public API, in a namespace made for the occasion.",
    epilog="Every benchmark stores the same made-up turns, half Chinese, half English, after a warm-up that is not "
    "counted. It uses the stack that runs in the data folder, or starts one for the time being. Progress goes to "
    "stderr; --json prints p50_ms, p95_ms, p99_ms, per_s, memories, clients, bytes_per_memory (growth of the database "
    "with all indexes, for each search unit), peak_rss_mb (the stack's processes together; memory that several "
    "share counts for each of them), writer_rss_mb (its peak) and writer_rss_growth (from the second tenth of the time "
    "to the last; null when it was too short to tell).",
    no_args_is_help=True,
)
MemoriesOption = Annotated[
    int,
    typer.Option(help="How many search units to store: one for each turn that is worth keeping.", min=1),
]
ClientsOption = Annotated[int, typer.Option(help="How many clients call at a time.", min=1, max=256)]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(commands)


@commands.command()
def append(
    memories: MemoriesOption = 2_000,
    clients: ClientsOption = 1,
    turns: Annotated[int, typer.Option(help="How many turns each call appends.", min=1, max=10)] = 2,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """How long an agent waits until its turns are safe.

    Each call appends a question and its answer (--turns says otherwise) and is answered when they would survive a
    crash. per_s counts turns. They are indexed meanwhile, as in operation; at the end that is waited for, uncounted.

    Example:

      rearview bench append --memories 5000 --clients 4 --json
    """
    from rearview.evaluation.bench_append import bench_append

    _measure(partial(bench_append, turns_per_call=turns), memories, clients, data_dir, as_json)


@commands.command()
def ingest(
    memories: MemoriesOption = 2_000,
    clients: ClientsOption = 2,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """How fast conversations become memories.

    Appends sessions of ten turns, each in one call, and waits until all are analysed, embedded and in the search
    index. per_s counts turns from the first append until then; the times are those of a session's append and end.

    Example:

      rearview bench ingest --memories 20000 --clients 4 --json
    """
    from rearview.evaluation.bench_ingest import bench_ingest

    _measure(bench_ingest, memories, clients, data_dir, as_json)


@commands.command()
def backlog(
    memories: MemoriesOption = 10_000,
    clients: ClientsOption = 4,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """How long a tenant's turn waits for its memory while another tenant has a backlog.

    Makes two tenants, for the time being. Measures turns of one alone, and again once the other has appended all of its
    sessions of ten turns; waiting_first and waiting_last say how many of its turns were not indexed then, before and
    after.

    Example:

      rearview bench backlog --memories 100000 --json
    """
    from rearview.cli.stack_figures import peak_memory
    from rearview.evaluation.bench_backlog import bench_backlog
    from rearview.evaluation.progress import shown_steps

    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json):
        with (
            borrowed_stack(data_dir) as endpoints_file,
            client_of(endpoints_file, "operator") as operator,
            peak_memory(folder) as memory,
            shown_steps(err) as steps,
        ):
            figures = bench_backlog(operator, opener_of(endpoints_file), memories, clients, steps)
        result = {
            **figures,
            "memories": memories,
            "writer_rss_mb": round(max(memory.writer, default=0) / MIB),
            "writer_rss_growth": memory.writer_growth(),
        }
    print_figures(result, as_json)


@commands.command()
def recall(
    memories: MemoriesOption = 10_000,
    clients: ClientsOption = 1,
    queries: Annotated[int, typer.Option(help="How many questions to ask.", min=1)] = 500,
    neighbours: Annotated[
        int, typer.Option(help="How many units of another namespace stand in the same tables.", min=0)
    ] = 0,
    texts: Annotated[
        Path | None,
        typer.Option(
            help="File of the texts that turns are composed of, one a line; default made-up ones.", exists=True
        ),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """How long an agent waits for the right memories.

    Fills a namespace, then asks questions about what was said, ten memories each, past every cache. The times are
    those of a call as the client sees it; per_s counts calls. recall@10 and recall@100 say which share of the nearest
    units of an exact search the vector index found; null where the search is exact, as in small namespaces. For the
    quality of recall see `rearview eval`.

    Up to 5,000 memories go through the public API. More of them, --neighbours and --texts are written straight into the
    tables ("filled": "in bulk"): each turn is two of a bounded number of texts and its vector the sum of their real
    ones; windows, keywords and episodes are the writer's own. With --texts every 40th line is asked and not stored, and
    the last tenth of the lines is a domain of its own that is inserted last, through the finished index.

    Example:

      rearview bench recall --memories 100000 --clients 8 --json
    """
    from rearview.cli.bulk_filling import BulkFilling
    from rearview.cli.index_recall import index_recall
    from rearview.evaluation.bench_recall import bench_recall, through_the_api

    folder = DataFolder.choose(data_dir, os.environ)
    in_bulk = memories > MOST_THROUGH_THE_API or bool(neighbours) or texts is not None
    asked: list[str] = []

    def measured(client: Client, memories: int, clients: int, steps: Steps) -> BenchFigures:
        filling = through_the_api(client, memories, queries, steps)
        if in_bulk:
            filling = BulkFilling(folder, client, texts, steps, neighbours=neighbours).filling(memories, queries)

        def noted(namespace: str) -> Sequence[str]:
            asked.extend(filling(namespace))
            return asked

        return bench_recall(client, noted, clients, queries, steps)

    def compared(figures: BenchFigures) -> dict[str, object]:
        found = index_recall(folder, figures.namespace, asked[:MOST_COMPARED])
        return {
            "queries": queries,
            "neighbours": neighbours,
            "filled": "in bulk" if in_bulk else "through the API",
            "recall@10": round(found.at_10, 4) if found else None,
            "recall@100": round(found.at_100, 4) if found else None,
        }

    _measure(measured, memories, clients, data_dir, as_json, compared)


@commands.command()
def tiers(
    memories: MemoriesOption = 2_000,
    clients: ClientsOption = 4,
    turns: Annotated[
        int, typer.Option(help="Of so many turns a memory is made at most, where they are written in bulk.", min=1)
    ] = 1,
    recalls: Annotated[bool, typer.Option("--recalls", help="Recall all the time while memories move.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """How fast memories move to the warm and the cold tier, and that none is lost.

    Remembers made-up notes (more than 5,000, or of several --turns, are written in bulk, as by `bench recall`), sweeps
    them all to the warm tier, then to the cold one, and asks and reads them again. hot_to_warm_per_s and
    warm_to_cold_per_s count memories over the time of each sweep; lost counts those that cannot be read afterwards or
    read differently; cold_first_ms is the first recall from the cold tier, cold_p50_ms the median of those after it,
    both once the database has cleaned up after the moves, settled_after_s later. cold_recall@10 says which share of the
    nearest ten units of each language a search of the segments finds. With --recalls one client asks all the time, and
    recall_p95_ms tells how long it waited before the moves, and during each of them.

    Example:

      rearview bench tiers --memories 20000 --recalls --json
    """
    from rearview.cli.bulk_filling import BulkFilling
    from rearview.cli.cleaning_up import wait_until_cleaned_up
    from rearview.cli.cold_recall import cold_recall
    from rearview.evaluation.bench_tiers import RECALLS, bench_tiers, by_remembering
    from rearview.evaluation.progress import shown_steps

    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json), admin_client(data_dir) as client, shown_steps(err) as steps:
        filling = by_remembering(client, memories, clients, steps)
        if memories > MOST_THROUGH_THE_API or turns > 1:
            filling = BulkFilling(folder, client, None, steps, turns_per_session=turns).filling(memories, 2 * RECALLS)
        namespace, questions, figures = bench_tiers(
            client, filling, steps, settled=lambda: wait_until_cleaned_up(folder, steps), with_recalls=recalls
        )
        found = cold_recall(folder, namespace, questions[:MOST_COMPARED])
    figures["cold_recall@10"] = None if found is None else round(found, 4)
    print_figures({**figures, "memories": memories}, as_json)


@commands.command()
def cache(
    memories: MemoriesOption = 10_000,
    queries: Annotated[int, typer.Option(help="How many questions to ask of each kind.", min=1)] = 200,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """How long an agent waits for an answer that was given before.

    Fills a namespace and asks questions past the cache, again in the same words, and again in other words; then appends
    a turn before each question, ten of them over and over. Times are those of a call as the client sees it, the shares
    of hits those that the answers tell.

    Example:

      rearview bench cache --memories 100000 --json
    """
    from rearview.evaluation.bench_cache import bench_cache
    from rearview.evaluation.progress import shown_steps

    with failures(as_json), admin_client(data_dir) as client, shown_steps(err) as steps:
        figures = bench_cache(client, memories, queries, steps)
    print_figures({**figures, "memories": memories, "queries": queries}, as_json)


@commands.command()
def mcp(
    calls: Annotated[int, typer.Option(help="How many searches by each way.", min=1)] = 300,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """What the MCP adapter adds to a call.

    Starts an adapter on stdio and one that serves HTTP, and makes the same search over plain gRPC and over both, one
    after the other. The overhead is the difference of the medians.

    Example:

      rearview bench mcp --calls 500 --json
    """
    from rearview.embedded.endpoints import Endpoints
    from rearview.embedded.errors import StackError
    from rearview.evaluation.bench_mcp import bench_mcp
    from rearview.evaluation.ingest import fresh_namespace

    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json):
        with admin_client(data_dir) as client:
            endpoints = Endpoints.read(folder.endpoints_file)
            if endpoints is None or endpoints.gateway is None or endpoints.admin_key is None:
                raise StackError(f"{folder.endpoints_file} names no gateway")
            namespace = fresh_namespace(client, "bench")
            figures = asyncio.run(bench_mcp(endpoints.gateway, endpoints.admin_key, namespace, calls, dict(os.environ)))
        result = figures.as_json()
    print_figures(result, as_json)


def _measure(
    bench: Callable[[Client, int, int, Steps], BenchFigures],
    memories: int,
    clients: int,
    data_dir: Path | None,
    as_json: bool,
    further: Callable[[BenchFigures], dict[str, object]] | None = None,
) -> None:
    from rearview.cli.stack_figures import database_bytes, peak_memory
    from rearview.evaluation.progress import shown_steps

    folder = DataFolder.choose(data_dir, os.environ)
    with failures(as_json):
        with admin_client(data_dir) as client, peak_memory(folder) as memory, shown_steps(err) as steps:
            before = database_bytes(folder)
            figures = bench(client, memories, clients, steps)
            grown = database_bytes(folder) - before
            more = further(figures) if further else {}
        result = {
            **figures.as_json(),
            "memories": memories,
            "clients": clients,
            "bytes_per_memory": round(grown / memories),
            "peak_rss_mb": round(memory.rss_bytes / MIB),
            "writer_rss_mb": round(max(memory.writer, default=0) / MIB),
            "writer_rss_growth": memory.writer_growth(),
            **more,
        }
    print_figures(result, as_json)
