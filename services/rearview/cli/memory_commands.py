"""Commands about memories: `rearview remember`, `recall`, `list`, `show`, `history`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from rearview.cli.connection import GatewayOption, NamespaceOption, connected
from rearview.cli.memory_texts import as_dict, details, hit_text, id_of, memory_text, value_text
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_figures, print_json
from rearview.cli.times import TIME_HELP, labels_of, moment

KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        help="Only this kind; may be repeated: episode, fact, explicit, tool_result, constraint, decision, summary.",
    ),
]
SinceOption = Annotated[str | None, typer.Option(help=f"Only what happened from then on. {TIME_HELP}")]
UntilOption = Annotated[str | None, typer.Option(help="Only what happened before then.")]
EntityOption = Annotated[
    list[str] | None, typer.Option("--entity", help="Only what mentions this person or thing; may be repeated.")
]
LabelOption = Annotated[list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="May be repeated.")]
SessionFilterOption = Annotated[str, typer.Option("--session", help="Only what came from this session.")]
AsOfOption = Annotated[str | None, typer.Option(help="As things stood then.")]
MemoryArgument = Annotated[str, typer.Argument(help="The memory's id, or namespaces/NAMESPACE/memories/ID.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(remember)
    app.command()(recall)
    app.command("list")(list_memories)
    app.command()(show)
    app.command()(history)


def remember(
    content: Annotated[str, typer.Argument(help="What is to be remembered.")],
    kind: Annotated[str, typer.Option("--type", help="explicit, fact, constraint, decision, ...")] = "explicit",
    priority: Annotated[float, typer.Option(min=0, max=1, help="High ones stay in the fastest tier.")] = 0.5,
    pin: Annotated[bool, typer.Option("--pin", help="Never decays, never expires.")] = False,
    label: LabelOption = None,
    session: Annotated[str | None, typer.Option(help="The session that it belongs to.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help=f"When it happened; now if not given. {TIME_HELP}")] = None,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Store one memory; it can be recalled as soon as this returns.

    Examples:

      rearview remember "Alice is allergic to peanuts" --type constraint

      rearview remember "预算改成一万二" --label project=sofa --json
    """
    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        answer = client.remember(
            content,
            type=kind,
            priority=priority,
            pinned=pin,
            labels=labels_of(label or ()),
            session=session,
            occurred_at=moment(occurred_at, "occurred_at"),
        )
    said = as_dict(answer)
    said["outcome"] = str(said.get("outcome", "")).removeprefix("REMEMBER_OUTCOME_").lower()
    if as_json:
        print_json(said)
        return
    related = ", ".join(id_of(name) for name in answer.related)
    print_figures({said["outcome"]: id_of(answer.memory.name), **({"related": related} if related else {})}, False)


def recall(
    query: Annotated[str, typer.Argument(help="A question or any words, in Chinese or English.")],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many at most.")] = 10,
    session: Annotated[str | None, typer.Option(help="The session that asks: its last turns count, too.")] = None,
    kind: KindOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    entity: EntityOption = None,
    label: LabelOption = None,
    as_of: AsOfOption = None,
    cold: Annotated[bool, typer.Option("--cold", help="Search cold memories, too.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Past the cache.")] = False,
    context: Annotated[bool, typer.Option("--context", help="Print the text for a prompt instead.")] = False,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the memories most relevant to a query, best first.

    Examples:

      rearview recall "what is the budget now?"

      rearview recall "上周订了什么" --since 2026-03-01 --context
    """
    from rearview.client import memory_filter
    from rearview.v1 import recall_pb2

    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        answer = client.recall(
            query,
            top_k=top_k,
            session=session,
            filter=memory_filter(
                types=kind or (),
                start=moment(since, "since"),
                end=moment(until, "until"),
                entities=entity or (),
                labels=labels_of(label or ()),
            ),
            as_of=moment(as_of, "as_of"),
            include_cold=cold,
            no_cache=no_cache,
        )
    if as_json:
        print_json(as_dict(answer))
        return
    if answer.degraded:
        err.print(f"[yellow]without:[/] {', '.join(answer.degraded)}")
    if not answer.hits:
        reason = recall_pb2.EmptyReason.Name(answer.empty_reason).removeprefix("EMPTY_REASON_")
        err.print(f"nothing found: {reason.lower().replace('_', ' ')}")
    elif context:
        typer.echo(answer.context)
    else:
        _print_texts(hit_text(hit) for hit in answer.hits)
        err.print(f"[dim]why these: rearview explain {id_of(answer.trace)}[/]", soft_wrap=True)


def list_memories(
    kind: KindOption = None,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", help="active (if not given), superseded, inactive; may be repeated."),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    entity: EntityOption = None,
    label: LabelOption = None,
    session: SessionFilterOption = "",
    as_of: AsOfOption = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List memories, newest first.

    Examples:

      rearview list --type fact --limit 20

      rearview list --entity 小王 --since 2026-01-01 --json
    """
    from itertools import islice

    from rearview.client import memory_filter

    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        pages = client.list_memories(
            filter=memory_filter(
                types=kind or (),
                start=moment(since, "since"),
                end=moment(until, "until"),
                entities=entity or (),
                session=f"namespaces/{namespace}/sessions/{session}" if session else "",
                labels=labels_of(label or ()),
            ),
            states=state or (),
            as_of=moment(as_of, "as_of"),
            page_size=min(limit + 1, 1_000),
        )
        found = list(islice(pages, limit + 1))
    more, memories = len(found) > limit, found[:limit]
    if as_json:
        print_json({"memories": [as_dict(memory) for memory in memories], "more": more})
        return
    _print_texts(memory_text(memory) for memory in memories)
    if more:
        err.print(f"there are more; --limit {limit * 2} shows them")


def show(
    memory: MemoryArgument,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything that is known of one memory.

    Example:

      rearview show 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b
    """
    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        found = client.get_memory(memory)
    if as_json:
        print_json(as_dict(found))
    else:
        print_figures(details(found), False)


def history(
    memory: MemoryArgument,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the values that a memory's fact has had, newest first, and when each of them held.

    Example:

      rearview history 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b
    """
    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        found = list(client.memory_history(memory))
    if as_json:
        print_json({"memories": [as_dict(one) for one in found]})
    else:
        _print_texts(value_text(one) for one in found)


def _print_texts(texts: Iterable[str]) -> None:
    for text in texts:
        out.print(text, soft_wrap=True)
