"""Draws the report's plots: `python -m loadtest.bench.plots FOLDER`; needs matplotlib (the extra `bench`) alone."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

COLOURS = ("#1b6ca8", "#7a7a7a", "#d1813b", "#5b8f4a")
SETS = {"locomo": "LoCoMo", "madial-zh": "MADial zh", "madial-en": "MADial en"}
DEPTH = "recall@10"
WIDTH, HEIGHT = 9.0, 3.6
FORMATS = ("svg", "png")


def main() -> None:
    """Draw what there are figures for."""
    folder = Path(sys.argv[1])
    plotted = json.loads((folder / "plotted.json").read_text(encoding="utf-8"))
    alone, beside = plotted["alone"], plotted["beside"]
    mpl.rcParams.update({"svg.hashsalt": "rearview", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False})
    if "recall" in alone:
        _draw(folder / "recall-growth", lambda axes: _recall_growth(axes, alone))
        _draw(folder / "size-growth", lambda axes: _size_growth(axes, alone["recall"]))
    if any(called in figures for figures in beside.values() for called in SETS):
        _draw(folder / "peers-quality", lambda axes: _quality(axes, beside), panels=1)
    if any("speed-8" in figures for figures in beside.values()):
        _draw(folder / "peers-speed", lambda axes: _speed(axes, beside))


def _draw(file: Path, draw: Callable[[list[Axes]], None], panels: int = 2) -> None:
    figure, axes = plt.subplots(1, panels, figsize=(WIDTH, HEIGHT), squeeze=False)
    draw(list(axes[0]))
    figure.tight_layout()
    for ending in FORMATS:
        metadata = {"Date": None} if ending == "svg" else None
        figure.savefig(file.with_suffix(f".{ending}"), dpi=120, metadata=metadata)
    plt.close(figure)


def _recall_growth(axes: list[Axes], alone: dict[str, list[dict[str, Any]]]) -> None:
    for percent, style in (("p50_ms", "-o"), ("p95_ms", "--o")):
        axes[0].plot(_sizes(alone["recall"]), [one[percent] for one in alone["recall"]], style, label=percent[:3])
    _label(axes[0], "memories", "ms a recall, 1 client")
    for what, clients in (("recall", 1), ("recall8", 8)):
        if what in alone:
            axes[1].plot(_sizes(alone[what]), [one["per_s"] for one in alone[what]], "-o", label=f"{clients} client(s)")
    _label(axes[1], "memories", "recalls a second")
    for one in axes:
        one.set_xscale("log")


def _size_growth(axes: list[Axes], figures: list[dict[str, Any]]) -> None:
    for one, key, title in zip(
        axes, ("bytes_per_memory", "peak_rss_mb"), ("bytes a memory", "peak RSS, MiB"), strict=True
    ):
        one.plot(_sizes(figures), [each[key] for each in figures], "-o", color=COLOURS[0])
        one.set_xscale("log")
        _label(one, "memories", title, legend=False)


def _quality(axes: list[Axes], beside: dict[str, dict[str, Any]]) -> None:
    sets = [called for called in SETS if any(called in figures for figures in beside.values())]
    width = 0.8 / len(beside)
    for at, (name, figures) in enumerate(beside.items()):
        measured = [place for place, called in enumerate(sets) if called in figures]
        places = [place + at * width for place in measured]
        heights = [figures[sets[place]][DEPTH] for place in measured]
        bars = axes[0].bar(places, heights, width * 0.92, label=name, color=COLOURS[at % len(COLOURS)])
        axes[0].bar_label(bars, fmt="%.2f", fontsize=8)
    axes[0].set_xticks([place + 0.4 - width / 2 for place in range(len(sets))], [SETS[called] for called in sets])
    axes[0].set_ylim(0, 1.15)
    _label(axes[0], "", "evidence recall@10")
    axes[0].legend(frameon=False, ncols=len(beside), loc="upper center")


def _speed(axes: list[Axes], beside: dict[str, dict[str, Any]]) -> None:
    names = [name for name, figures in beside.items() if "speed-8" in figures]
    bars = axes[0].barh(names, [beside[name]["speed-8"]["per_s"] for name in names], color=COLOURS[0])
    axes[0].bar_label(bars, fmt="%.0f", padding=2)
    _label(axes[0], "recalls a second, 8 clients", "", legend=False)
    begins = [0.0] * len(names)
    for at, part in enumerate(("own", "database", "embedding")):
        spent = [float(beside[name]["speed-8"]["cpu_ms"][part]) for name in names]
        axes[1].barh(names, spent, left=begins, label=part, color=COLOURS[at])
        begins = [begin + more for begin, more in zip(begins, spent, strict=True)]
    _label(axes[1], "CPU ms a recall, 8 clients", "")
    for one in axes:
        one.invert_yaxis()


def _sizes(figures: list[dict[str, Any]]) -> list[int]:
    return [one["memories"] for one in figures]


def _label(axes: Axes, across: str, up: str, *, legend: bool = True) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    if legend:
        axes.legend(frameon=False)


if __name__ == "__main__":
    main()
