"""The report, as Markdown, of the parts that were measured; and the numbers behind its plots."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadtest.bench.measure import DEPTHS, together
from loadtest.bench.own import COMMANDS
from loadtest.bench.parts import Figures, Parts
from loadtest.bench.rival import OWN, RIVALS

NAMES = {
    OWN: "Rearview",
    "langgraph": "LangGraph PostgresStore",
    "mem0": "mem0, `infer=False`",
    "hindsight": "Hindsight, no LLM, no cross-encoder",
}
SETS = {"locomo": "LoCoMo, evidence turns", "madial-zh": "MADial-Bench, Chinese", "madial-en": "MADial-Bench, English"}
PLOTTED = "plotted.json"
"""Beside the report: what `plots` draws."""
_ALONE_COLUMNS = {
    "recall": ("p50_ms", "p95_ms", "per_s", "recall@10", "bytes_per_memory", "peak_rss_mb"),
    "recall8": ("p50_ms", "p95_ms", "per_s", "recall@10", "bytes_per_memory", "peak_rss_mb"),
    "append": ("p50_ms", "p95_ms", "per_s", "bytes_per_memory", "peak_rss_mb"),
    "ingest": ("p50_ms", "p95_ms", "per_s", "bytes_per_memory", "peak_rss_mb", "writer_rss_growth"),
    "tiers": ("hot_to_warm_per_s", "warm_to_cold_per_s", "lost"),
}
_TIMES = (
    *("who", "p50, 1 client", "p95", "p50, 8 clients", "p95"),
    *("recalls/s, 8 clients", "Rearview's over it", "turns kept/s"),
)
_COSTS = (
    *("who", "a recall, 1 client", "a recall, 8 clients", "a turn kept"),
    *("bytes a memory", "RSS without database, MiB"),
)

Rows = list[Sequence[object]]


def write_report(parts: Parts, folder: Path) -> Path:
    """Write `report.md` and what its plots are drawn from into the folder; return the report's path."""
    alone, beside = alone_figures(parts), beside_figures(parts)
    file = folder / "report.md"
    text = "\n\n".join(["# Benchmark", _machine(parts), *_alone_sections(alone), *_beside_sections(parts, beside)])
    file.write_text(text + "\n", encoding="utf-8")
    plotted = {"alone": alone, "beside": {NAMES[name].partition(",")[0]: figures for name, figures in beside.items()}}
    (folder / PLOTTED).write_text(json.dumps(plotted, ensure_ascii=False, indent=1), encoding="utf-8")
    return file


def alone_figures(parts: Parts) -> dict[str, list[Figures]]:
    """Return Rearview's own figures by command, smallest size first."""
    found = {
        what: sorted(
            (known for name in parts.names(f"alone-{what}-") if (known := parts.read(name))),
            key=lambda figures: int(figures["memories"]),
        )
        for what in COMMANDS
    }
    return {what: figures for what, figures in found.items() if figures}


def beside_figures(parts: Parts) -> dict[str, Figures]:
    """Return the figures of each contender: quality by data set; `keep` and `speed` by clients, of the largest size."""
    sizes = sorted({int(name.split("-")[1]) for name in parts.names("keep-")})
    found: dict[str, Figures] = {}
    for name in (OWN, *RIVALS):
        figures: Figures = {}
        for called in SETS:
            if known := parts.read(f"quality-{called}-{name}"):
                figures[called] = known
        if sizes and (known := parts.read(f"keep-{sizes[-1]}-{name}")):
            figures["keep"] = known
            for clients in (1, 8):
                rounds = [parts.read(part) or {} for part in parts.names(f"speed-{sizes[-1]}-{clients}-")]
                rounds = [one for one in rounds if name in one]
                if rounds:
                    figures[f"speed-{clients}"] = together(rounds, name)
        if figures:
            found[name] = figures
    return found


def table(header: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table; None is an empty cell."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |" for line in lines)


def _machine(parts: Parts) -> str:
    machine = parts.read("machine") or {}
    loads = [
        figures[when]
        for name in parts.names("")
        if name != "machine" and (figures := parts.read(name))
        for when in ("load_before", "load_after")
    ]
    load = f" Load average while it was measured: {min(loads)} to {max(loads)}." if loads else ""
    return (
        f"{machine.get('processor')}, {machine.get('cores')} cores, {machine.get('memory_gib')} GiB, "
        f"{machine.get('system')}, Python {machine.get('python')}.{load}"
    )


def _alone_sections(alone: dict[str, list[Figures]]) -> list[str]:
    sections = ["## Rearview alone"] if alone else []
    for what, figures in alone.items():
        columns = _ALONE_COLUMNS.get(what) or [key for key in figures[0] if key.endswith(("_ms", "_per_s", "hits"))]
        rows: Rows = [[f"{one['memories']:,}", *(one.get(column) for column in columns)] for one in figures]
        sections.append(f"`rearview bench {' '.join(COMMANDS[what])}`\n\n{table(['memories', *columns], rows)}")
    if "recall" in alone:
        sections.append("![Recall by size](recall-growth.svg)\n\n![Memory and bytes by size](size-growth.svg)")
    return sections


def _beside_sections(parts: Parts, beside: dict[str, Figures]) -> list[str]:
    if not beside:
        return []
    sections = ["## Beside what one would pick instead"]
    quality: Rows = []
    for called, title in SETS.items():
        for name, figures in beside.items():
            if known := figures.get(called):
                turns = f", asked with the last {known['last_turns']} turns" if "last_turns" in known else ""
                quality.append([title, NAMES[name] + turns, *(f"{known[f'recall@{depth}']:.3f}" for depth in DEPTHS)])
    if quality:
        sections.append(table(["data", "who", *(f"@{depth}" for depth in DEPTHS)], quality))
        sections.append("![Evidence recall](peers-quality.svg)")
    if speed := _speed(beside):
        kept = next(figures["keep"]["kept"] for figures in beside.values() if "keep" in figures)
        sections += [f"Times and sizes with {kept:,} turns in one space:", *speed]
        sections.append("![Recalls a second and CPU a recall](peers-speed.svg)")
        if idle := parts.read("idle"):
            sections.append(
                f"Idle, the database takes {idle['database']:.3f} and Rearview's services {idle['services']:.3f} CPU "
                "seconds a second; the former is in everybody's figures, the latter in Rearview's."
            )
    return sections


def _speed(beside: dict[str, Figures]) -> list[str]:
    times: Rows = []
    costs: Rows = []
    own = beside.get(OWN, {}).get("speed-8", {})
    for name, figures in beside.items():
        keep, one, eight = (figures.get(part, {}) for part in ("keep", "speed-1", "speed-8"))
        if not keep:
            continue
        ratio = f"{own['per_s'] / eight['per_s']:.2f}" if own and eight else None
        times.append(
            [
                NAMES[name],
                *(figures.get(f"speed-{clients}", {}).get(part) for clients in (1, 8) for part in ("p50_ms", "p95_ms")),
                eight.get("per_s"),
                ratio,
                keep["per_s"],
            ]
        )
        costs.append(
            [
                NAMES[name],
                *(_cpu(part.get("cpu_ms")) for part in (one, eight, keep)),
                keep["bytes_per_memory"],
                keep["rss_mb"],
            ]
        )
    if not times:
        return []
    return [
        table(_TIMES, times),
        "CPU milliseconds of all processes: contender + database + embedding endpoint = total (Rearview embeds in its "
        "own processes).",
        table(_COSTS, costs),
    ]


def _cpu(spent: dict[str, Any] | None) -> str | None:
    if not spent:
        return None
    return " + ".join(f"{spent[part]:.1f}" for part in ("own", "database", "embedding")) + f" = {spent['total']:.1f}"
