"""Results of the parts of a run, a JSON file each: a run that was interrupted goes on from the parts that are there."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

Figures = dict[str, Any]


class Parts:
    """The files of one folder."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        """Take the folder, which is made, and what tells a person how far the run is."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._say = say

    def run(self, name: str, measure: Callable[[], Figures]) -> Figures:
        """Return the figures of a part: those of an earlier run, else measured now and kept."""
        known = self.read(name)
        if known is not None:
            self._say(f"{name}: measured at {known['measured_at']}, kept")
            return known
        self._say(f"{name} ...")
        load_before = psutil.getloadavg()[0]
        figures = {
            **measure(),
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "load_before": round(load_before, 1),
            "load_after": round(psutil.getloadavg()[0], 1),
        }
        file = self._folder / f"{name}.json"
        unfinished = file.with_suffix(".new")
        unfinished.write_text(json.dumps(figures, ensure_ascii=False, indent=1), encoding="utf-8")
        unfinished.replace(file)
        return figures

    def read(self, name: str) -> Figures | None:
        """Return the figures of a part, None when it has not been measured."""
        file = self._folder / f"{name}.json"
        if not file.exists():
            return None
        known: Figures = json.loads(file.read_text(encoding="utf-8"))
        return known

    def names(self, prefix: str) -> list[str]:
        """Return the measured parts whose names begin so, in order."""
        return sorted(file.stem for file in self._folder.glob(f"{prefix}*.json"))
