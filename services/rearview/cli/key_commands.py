"""`rearview keys ...`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.memory_texts import as_dict, id_of
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_json
from rearview.cli.times import TIME_HELP, moment, shown

if TYPE_CHECKING:
    from rearview.v1 import tenant_pb2

commands = typer.Typer(name="keys", help="Create, list, rotate and revoke API keys.", no_args_is_help=True)

KeyArgument = Annotated[str, typer.Argument(help="The key's id, as `rearview keys list` shows it.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(commands)


@commands.command("list")
def list_keys(gateway: GatewayOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the tenant's keys, newest first; never their secrets."""
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = list(client.list_api_keys())
    if as_json:
        print_json({"api_keys": [as_dict(one) for one in found]})
    else:
        out.print(_table(found))


@commands.command()
def create(
    principal: Annotated[str, typer.Argument(help="Whose key it is: an agent's or a person's name.")],
    role: Annotated[str, typer.Option(help="read, write or admin.")] = "write",
    namespaces: Annotated[
        list[str] | None, typer.Option("--namespace", "-n", help="Only there, of all it may reach; may be repeated.")
    ] = None,
    expires_at: Annotated[str | None, typer.Option(help=f"When it ends; never if not given. {TIME_HELP}")] = None,
    requests_per_second: Annotated[
        int, typer.Option(min=0, help="How often it may be used; 0: as often as its tenant may call.")
    ] = 0,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a key. Its secret is shown this once. What it may reach, `rearview namespaces grant` says.

    Example:

      rearview keys create my-agent --role write --namespace default
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        created = client.create_api_key(
            principal,
            role,
            namespaces=namespaces or (),
            expires_at=moment(expires_at, "expires_at"),
            requests_per_second=requests_per_second,
        )
    _print_new(created, as_json)


@commands.command()
def rotate(
    key: KeyArgument,
    overlap_minutes: Annotated[float, typer.Option(min=0, help="So long the old key still works.")] = 60,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key's successor. Its secret is shown this once; the old key ends after the overlap."""
    with connected(gateway, data_dir, as_json=as_json) as client:
        created = client.rotate_api_key(key, overlap=timedelta(minutes=overlap_minutes))
    _print_new(created, as_json)


@commands.command()
def revoke(
    key: KeyArgument, gateway: GatewayOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """End a key at once."""
    with connected(gateway, data_dir, as_json=as_json) as client:
        ended = client.revoke_api_key(key)
    if as_json:
        print_json(as_dict(ended))
    else:
        out.print(_table([ended]))


def _print_new(created: tenant_pb2.CreateApiKeyResponse, as_json: bool) -> None:
    if as_json:
        print_json(as_dict(created))
        return
    err.print("Keep the secret now; it is not shown again.")
    typer.echo(created.secret)
    out.print(_table([created.api_key]))


def _table(keys: list[tenant_pb2.ApiKey]) -> Table:
    from rearview.v1 import tenant_pb2 as messages

    table = Table("key", "principal", "role", "namespaces", "expires", "revoked", box=None, pad_edge=False)
    for key in keys:
        table.add_row(
            id_of(key.name),
            key.principal,
            messages.PrincipalRole.Name(key.role).removeprefix("PRINCIPAL_ROLE_").lower(),
            ", ".join(id_of(name) for name in key.namespaces) or "all",
            shown(key.expire_time),
            shown(key.revoke_time),
        )
    return table
