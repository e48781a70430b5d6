"""A recall's trace for a person to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

if TYPE_CHECKING:
    from rearview.v1.recall_pb2 import RecallTrace, ScoreParts, TraceCandidate

_REASONS = {
    "below_top_k": "below the best",
    "below_floor": "not relevant enough",
    "near_duplicate": "said already",
    "same_source": "its turn or fact is there already",
    "gone": "forgotten or replaced meanwhile",
}
_SHOWN_FROM = 0.005
_PARTS = ("relevance", "recency", "frequency", "emotion")


def figures_of(trace: RecallTrace) -> dict[str, object]:
    """Return what a trace says of the recall as a whole, by name."""
    returned = sum(1 for candidate in trace.candidates if candidate.rank)
    dropped: dict[str, int] = {}
    for candidate in trace.candidates:
        if not candidate.rank:
            dropped[candidate.dropped_because] = dropped.get(candidate.dropped_because, 0) + 1
    return {
        "trace": trace.name,
        "query": trace.query,
        "namespaces": ", ".join(trace.namespaces),
        "time": trace.time.ToDatetime().isoformat(timespec="milliseconds") + "Z",
        **{f"understood: {aspect}": said or "-" for aspect, said in sorted(trace.understanding.items())},
        "found by route": _pairs(trace.route_counts, "{}"),
        "left out (degraded)": ", ".join(trace.degraded) or "nothing",
        "milliseconds": _pairs(trace.stage_milliseconds, "{:.1f}"),
        "returned": returned,
        "dropped": ", ".join(f"{count} {_reason(reason)}" for reason, count in sorted(dropped.items())) or "none",
    }


def candidates_table(trace: RecallTrace, most: int) -> Table:
    """Return a table of the first candidates, best first: place, score by parts, and why it was dropped.

    A part of the score stands as its value times its weight; parts that the recall's profile does not use are left out,
    and so are raw scores that nobody computed.
    """
    shown = list(trace.candidates[:most])
    used = [part for part in _PARTS if any(getattr(one.score, f"{part}_weight") for one in shown)]
    # Names are there to be copied.
    candidate_column = Column("candidate", no_wrap=True, min_width=max((len(_short(one)) for one in shown), default=0))
    table = Table("place", candidate_column, "routes", "score", *used, "raw scores", "relevance is made of", box=None)
    for candidate in shown:
        score = candidate.score
        table.add_row(
            str(candidate.rank) if candidate.rank else f"[dim]{_reason(candidate.dropped_because)}[/]",
            escape(_short(candidate)),
            " ".join(_routes(candidate)),
            f"{score.total:.3f}",
            *(f"{getattr(score, part):.2f}\u00d7{getattr(score, f'{part}_weight'):.2f}" for part in used),
            " ".join(_raw(score)) or "-",
            " ".join(f"{name} {value:+.2f}" for name, value in _by_weight(score.fusion_terms)) or "-",
        )
    return table


def _short(candidate: TraceCandidate) -> str:
    """`memories/ID`, or `sessions/SESSION/events/ID`; its namespace stands above."""
    return "/".join(candidate.resource_name.split("/")[2:])


def _routes(candidate: TraceCandidate) -> Iterator[str]:
    from rearview.v1.recall_pb2 import RecallRoute

    for route in candidate.routes:
        yield RecallRoute.Name(route).removeprefix("RECALL_ROUTE_").lower()


def _raw(score: ScoreParts) -> Iterator[str]:
    for field, name in (
        ("vector_similarity", "cosine"),
        ("keyword_score", "bm25"),
        ("rerank_score", "rerank"),
    ):
        if score.HasField(field):  # type: ignore[arg-type]  # the generated types list the names one by one
            yield f"{name} {getattr(score, field):.2f}"


def _by_weight(terms: Mapping[str, float]) -> list[tuple[str, float]]:
    weighty = [(name, value) for name, value in terms.items() if abs(value) >= _SHOWN_FROM]
    return sorted(weighty, key=lambda term: (-abs(term[1]), term[0]))


def _pairs(values: Mapping[str, float], form: str) -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in sorted(values.items())) or "-"


def _reason(reason: str) -> str:
    return _REASONS.get(reason, reason)
