"""`rearview holds ...`: what must not be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rearview.cli.connection import GatewayOption, NamespaceOption, connected
from rearview.cli.memory_texts import as_dict
from rearview.cli.output import DataDirOption, JsonOption, err, out, print_json
from rearview.cli.times import shown

if TYPE_CHECKING:
    from rearview.v1 import lifecycle_pb2

commands = typer.Typer(name="holds", help="Set, lift and list legal holds.", no_args_is_help=True)

NameArgument = Annotated[
    str, typer.Argument(help="A memory or a session, by its full name; without one, the namespace or the subject.")
]
SubjectOption = Annotated[str, typer.Option(help="Only what names this person or thing, in every known spelling.")]
ReasonOption = Annotated[str, typer.Option(help="Why; it is kept in the audit log.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.add_typer(commands)


@commands.command("list")
def list_holds(
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Only those of this namespace.")] = "",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the holds that stand, newest first; why each was set, the audit log says.

    Example:

      rearview holds list --namespace default
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        found = list(client.list_legal_holds(namespace=namespace or None, whole_tenant=not namespace))
    if as_json:
        print_json({"legal_holds": [as_dict(one) for one in found]})
    else:
        out.print(_table(found))


@commands.command("set")
def set_hold(
    reason: ReasonOption,
    name: NameArgument = "",
    namespace: NamespaceOption = "default",
    subject: SubjectOption = "",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hold a memory, a session, a namespace, or a subject in it: nothing of it is forgotten, purged or expires.

    Example:

      rearview holds set --subject "Han Meimei" --reason "case 17"
    """
    _change(True, name, namespace, subject, reason, gateway, data_dir, as_json)


@commands.command()
def lift(
    reason: ReasonOption,
    name: NameArgument = "",
    namespace: NamespaceOption = "default",
    subject: SubjectOption = "",
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lift a hold. What was to be purged meanwhile is purged now.

    Example:

      rearview holds lift --subject "Han Meimei" --reason "case 17 is closed"
    """
    _change(False, name, namespace, subject, reason, gateway, data_dir, as_json)


def _change(
    held: bool,
    name: str,
    namespace: str,
    subject: str,
    reason: str,
    gateway: GatewayOption,
    data_dir: DataDirOption,
    as_json: bool,
) -> None:
    with connected(gateway, data_dir, as_json=as_json) as client:
        client.set_legal_hold(name, held=held, reason=reason, subject=subject, namespace=namespace)
    if as_json:
        print_json({"held": held, "name": name or f"namespaces/{namespace}", "subject": subject})
    else:
        err.print("Held." if held else "Lifted.")


def _table(holds: list[lifecycle_pb2.LegalHold]) -> Table:
    table = Table("hold", "stands on", "subject", "set by", "since", box=None)
    for hold in holds:
        table.add_row(hold.name, hold.resource_name, hold.subject, hold.principal, shown(hold.create_time))
    return table
