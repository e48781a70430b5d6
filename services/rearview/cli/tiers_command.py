"""`rearview tiers`: where a tenant's memories are, and moving them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_json


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(tiers)


def tiers(
    namespace: Annotated[str, typer.Option(help="Only this namespace; the whole tenant if not given.")] = "",
    sweep: Annotated[bool, typer.Option("--sweep", help="Apply the namespace's lifecycle policy first.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many memories are hot, warm and cold, and the bytes of their texts.

    Examples:

      rearview tiers

      rearview tiers --namespace default --sweep --json
    """
    from rearview.evaluation.bench_tiers import swept
    from rearview.evaluation.progress import shown_steps
    from rearview.v1 import memory_pb2

    with connected(gateway, data_dir, as_json=as_json) as client:
        if sweep:
            with shown_steps(err) as steps:
                swept(client, namespace or "default", steps)
        stats = client.tier_stats(namespace=namespace) if namespace else client.tier_stats(whole_tenant=True)
    found = {
        memory_pb2.Tier.Name(tier.tier).removeprefix("TIER_").lower(): {
            "memories": tier.memory_count,
            "text_bytes": tier.size_bytes,
        }
        for tier in stats.tiers
    }
    if as_json:
        print_json(found)
        return
    table = Table("tier", "memories", "bytes of text", box=None)
    for name, figures in found.items():
        table.add_row(name, f"{figures['memories']:,}", f"{figures['text_bytes']:,}")
    out.print(table)
