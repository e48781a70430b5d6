"""What became of an import, on the wire."""

from rearview.v1 import memory_service_pb2 as pb
from rearview.writer.imports.tally import Tally


def imported_to_proto(tally: Tally) -> pb.ImportMemoriesResponse:
    """Return the answer to one call of an import."""
    return pb.ImportMemoriesResponse(
        stored_count=tally.stored,
        unchanged_count=tally.unchanged,
        refused_count=tally.refused,
        problems=tally.problems,
        line_count=tally.lines,
        complete=tally.complete,
        stored_event_count=tally.stored_events,
        unchanged_event_count=tally.unchanged_events,
        refused_event_count=tally.refused_events,
        expired_count=tally.expired,
        problem_count=tally.problem_count,
        carried_vector_count=tally.carried_vectors,
        made_vector_count=tally.made_vectors,
        redacted_count=tally.redacted,
        superseded_count=tally.superseded,
    )
