"""`rearview explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from rearview.cli.borrowed_stack import admin_client
from rearview.cli.output import DataDirOption, JsonOption, failures, print_figures

_SHORT = "CAPTURE_OUTCOME_"


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(explain)


def explain(
    event: Annotated[str, typer.Argument(help="namespaces/NAMESPACE/sessions/SESSION/events/EVENT")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what became of a turn, and why: kept, dropped, merged, known already, an echo, or forgotten.

    Shows the rule with its figures, the memories it went into or strengthened, those that it replaced, which categories
    of personal data were taken out, and milliseconds by stage. Never content.

    Example:

      rearview explain namespaces/default/sessions/monday/events/019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b --json
    """
    from google.protobuf.json_format import MessageToDict

    from rearview.v1.event_pb2 import CaptureOutcome

    with failures(as_json), admin_client(data_dir) as client:
        trace = client.capture_trace(event)
    said = MessageToDict(trace, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    said["outcome"] = CaptureOutcome.Name(trace.outcome).removeprefix(_SHORT).lower()
    if not as_json:
        for name in ("memories", "superseded", "redactions"):
            said[name] = ", ".join(said[name]) or "-"
        said["stage_milliseconds"] = ", ".join(f"{k} {v:.1f}" for k, v in sorted(trace.stage_milliseconds.items()))
    print_figures(said, as_json)
