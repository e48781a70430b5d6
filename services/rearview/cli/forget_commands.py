"""Commands that forget: `rearview forget`, `receipt`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, NamespaceOption, connected
from rearview.cli.memory_texts import as_dict, id_of
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_json
from rearview.cli.times import shown

if TYPE_CHECKING:
    from rearview.client import Client
    from rearview.v1 import forget_pb2

POLL_SECONDS = 1.0
_SHORT = "FORGET_STATE_"

ReceiptArgument = Annotated[str, typer.Argument(help="The receipt's id, or forgetReceipts/ID.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(forget)
    app.command()(receipt)


def forget(
    memories: Annotated[list[str] | None, typer.Argument(help="Ids of memories.", show_default=False)] = None,
    session: Annotated[str | None, typer.Option(help="A whole session.")] = None,
    last_turns: Annotated[int | None, typer.Option(min=1, help="Only the last turns of the session.")] = None,
    subject: Annotated[str | None, typer.Option(help="Everything about a person or thing, by name.")] = None,
    query: Annotated[str | None, typer.Option(help="What a query finds.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit log, so without content.")] = "",
    now: Annotated[bool, typer.Option("--now", help="Erase at once, without the grace period.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would go.")] = False,
    namespace: NamespaceOption = "default",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget memories, a session, a person or thing, or what a query finds; shows what would go and asks first.

    From then on nothing of it is returned. It is erased after the namespace's grace period, until which `rearview
    restore` takes it back; `rearview receipt` proves how far it has come.

    Examples:

      rearview forget --subject "小王" --reason "asked for by the user"

      rearview forget --session chat-1 --last-turns 2 --yes

      rearview forget 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b --now
    """
    target: dict[str, Any] = {
        "memories": memories or (),
        "session": session,
        "last_turns": last_turns,
        "subject": subject,
        "query": query,
    }
    with connected(gateway, data_dir, namespace=namespace, as_json=as_json) as client:
        would_go = client.forget(**target, preview=True)
        if not preview:
            if not yes and not _agreed(would_go):
                err.print("nothing was forgotten")
                raise typer.Exit(1)
            forgotten = client.forget(
                **target, confirmation_token=would_go.confirmation_token, reason=reason, skip_grace_period=now
            )
    print_receipt(would_go if preview else forgotten, as_json)


def receipt(
    name: ReceiptArgument,
    wait: Annotated[
        int, typer.Option("--wait", metavar="SECONDS", min=0, help="Wait so long for it to be verified.")
    ] = 0,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far a forget has come: tombstoned, purged, verified, or restored. Ids and counts, never content.

    With --wait the exit code is 1 if it was not verified in time.

    Example:

      rearview receipt 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b --wait 60
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = _waited(client, name, wait)
    print_receipt(found, as_json)
    if wait and _state(found) != "verified":
        raise typer.Exit(1)


def _agreed(would_go: forget_pb2.ForgetReceipt) -> bool:
    err.print(f"{would_go.memory_count:,} memories and {would_go.event_count:,} turns would be forgotten.")
    return typer.confirm("Forget them?", err=True)


def _waited(client: Client, name: str, seconds: int) -> forget_pb2.ForgetReceipt:
    until = time.monotonic() + seconds
    found = client.get_forget_receipt(name)
    while time.monotonic() < until and _state(found) in ("tombstoned", "purged"):
        time.sleep(POLL_SECONDS)
        found = client.get_forget_receipt(name)
    return found


def _state(receipt: forget_pb2.ForgetReceipt) -> str:
    from rearview.v1 import forget_pb2 as messages

    return messages.ForgetState.Name(receipt.state).removeprefix(_SHORT).lower()


def print_receipt(receipt: forget_pb2.ForgetReceipt, as_json: bool) -> None:
    """Print a receipt: for a person, or as one JSON object."""
    if as_json:
        print_json(as_dict(receipt) | {"state": "preview" if receipt.preview else _state(receipt)})
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("receipt", "-" if receipt.preview else id_of(receipt.name))
    table.add_row("state", "preview: nothing was changed" if receipt.preview else _state(receipt))
    table.add_row("memories", f"{receipt.memory_count:,}")
    table.add_row("turns", f"{receipt.event_count:,}")
    if not receipt.preview:
        table.add_row("forgotten", shown(receipt.tombstone_time))
        table.add_row("erased", shown(receipt.purge_time))
        table.add_row("verified", shown(receipt.verify_time))
        table.add_row("erasure begins", shown(receipt.purge_after_time))
    for place in receipt.places:
        table.add_row(f"  {place.place}", f"{place.count:,}")
    for beyond in receipt.beyond_reach:
        table.add_row("beyond reach", beyond)
    out.print(table)
