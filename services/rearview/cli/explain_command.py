"""`rearview explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from rearview.cli.connection import GatewayOption, connected
from rearview.cli.memory_texts import as_dict
from rearview.cli.output import DataDirOption, JsonOption, out, print_figures, print_json

if TYPE_CHECKING:
    from rearview.v1.event_pb2 import CaptureTrace
    from rearview.v1.recall_pb2 import RecallTrace

_SHORT = "CAPTURE_OUTCOME_"
_TRACES = "recallTraces/"
_SHOWN_CANDIDATES = 20
_LEAST_WIDTH = 160


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(explain)


def explain(
    name: Annotated[
        str, typer.Argument(help="namespaces/NAMESPACE/sessions/SESSION/events/EVENT, or recallTraces/TRACE, or TRACE")
    ],
    plan: Annotated[bool, typer.Option("--plan", help="Of a recall, show the database's plan too.")] = False,
    candidates: Annotated[
        int, typer.Option("--candidates", min=1, help="Of a recall, so many candidates are shown to a person.")
    ] = _SHOWN_CANDIDATES,
    gateway: GatewayOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what became of a turn, or what a recall did, and why. Never content.

    Of a turn: kept, dropped, merged, known already, an echo, or forgotten; the rule with its figures, the memories it
    went into or strengthened, those that it replaced, which categories of personal data were taken out, and
    milliseconds by stage.

    Of a recall: how its query (redacted) was understood, what each route found, what was left out for want of time,
    milliseconds by stage, and the candidates with the parts of their scores and why they were dropped. The plan is
    there if the recall asked for it (`explain_plan`).

    Example:

      rearview explain namespaces/default/sessions/monday/events/019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b --json

      rearview explain recallTraces/019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b
    """
    with connected(gateway, data_dir, as_json=as_json) as client:
        if _is_trace(name):
            _show_recall(client.get_recall_trace(name), as_json, plan, candidates)
        else:
            _show_capture(client.capture_trace(name), as_json)


def _is_trace(name: str) -> bool:
    if name.startswith(_TRACES):
        return True
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _show_recall(trace: RecallTrace, as_json: bool, plan: bool, most: int) -> None:
    from rearview.cli.recall_report import candidates_table, figures_of

    if as_json:
        said = as_dict(trace, unset_too=True)
        if not plan:
            del said["plan"]
        print_json(said)
        return
    print_figures(figures_of(trace), as_json)
    out.print()
    out.print(candidates_table(trace, most), width=max(out.width, _LEAST_WIDTH))
    if len(trace.candidates) > most:
        out.print(f"... and {len(trace.candidates) - most} more; --candidates shows them")
    if plan:
        out.print()
        out.print(trace.plan or "The recall did not ask for the plan (explain_plan).", markup=False, soft_wrap=True)


def _show_capture(trace: CaptureTrace, as_json: bool) -> None:
    from rearview.v1.event_pb2 import CaptureOutcome

    said = as_dict(trace, unset_too=True)
    said["outcome"] = CaptureOutcome.Name(trace.outcome).removeprefix(_SHORT).lower()
    if not as_json:
        for part in ("memories", "superseded", "redactions"):
            said[part] = ", ".join(said[part]) or "-"
        said["stage_milliseconds"] = ", ".join(f"{k} {v:.1f}" for k, v in sorted(trace.stage_milliseconds.items()))
    print_figures(said, as_json)
