"""`rearview namespaces ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.memory_texts import as_dict, id_of
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_json

if TYPE_CHECKING:
    from rearview.v1 import namespace_pb2

commands = typer.Typer(name="namespaces", help="Create, list, share and delete namespaces.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(help="The namespace's id.")]
PrincipalArgument = Annotated[str, typer.Argument(help="Whose keys it is about.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(commands)


@commands.command("list")
def list_namespaces(gateway: GatewayOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the namespaces that the key may read."""
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = list(client.list_namespaces())
    if as_json:
        print_json({"namespaces": [as_dict(one) for one in found]})
    else:
        out.print(_table(found))


@commands.command()
def create(
    name: NameArgument,
    display_name: Annotated[str, typer.Option(help="A name for people.")] = "",
    public: Annotated[bool, typer.Option("--public", help="Every key of the tenant may subscribe to it.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a namespace, private unless --public.

    Example:

      rearview namespaces create team-a --display-name "Team A"
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        created = client.create_namespace(name, display_name=display_name, public=public)
    if as_json:
        print_json(as_dict(created))
    else:
        out.print(_table([created]))


@commands.command()
def delete(
    name: NameArgument,
    force: Annotated[bool, typer.Option("--force", help="Also one that holds memories: they are forgotten.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a namespace; asks first."""
    if not yes and not typer.confirm(f"Delete the namespace {name}?", err=True):
        err.print("nothing was deleted")
        raise typer.Exit(1)
    with connected(gateway, data_dir, as_json=as_json) as client:
        client.delete_namespace(name, force=force)
    if as_json:
        print_json({"deleted": name})


@commands.command()
def grant(
    name: NameArgument,
    principal: PrincipalArgument,
    write: Annotated[bool, typer.Option("--write", help="Let it write, too.")] = False,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let another principal read in a namespace, or write."""
    with connected(gateway, data_dir, as_json=as_json) as client:
        given = client.grant_access(principal, write=write, namespace=name)
    if as_json:
        print_json(as_dict(given))


@commands.command()
def revoke(
    name: NameArgument,
    principal: PrincipalArgument,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a grant back; it holds from the next call on."""
    with connected(gateway, data_dir, as_json=as_json) as client:
        client.revoke_access(principal, namespace=name)
    if as_json:
        print_json({"revoked": principal})


def _table(namespaces: list[namespace_pb2.Namespace]) -> Table:
    from rearview.v1 import namespace_pb2 as messages

    table = Table("namespace", "visibility", "name", box=None, pad_edge=False)
    for one in namespaces:
        visibility = messages.Visibility.Name(one.visibility).removeprefix("VISIBILITY_").lower()
        table.add_row(id_of(one.name), visibility, one.display_name)
    return table
