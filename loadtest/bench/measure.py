"""What is measured of contenders: quality by data set, keeping, and rounds of recalls that take turns."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict, replace

from loadtest.bench.contest import Contest, Spent
from loadtest.bench.datasets import Asked, Dataset
from loadtest.bench.parts import Figures
from loadtest.bench.rival import OWN
from rearview.domain.ids import new_id
from rearview.evaluation.measures import mean, percentile_milliseconds, recall_at
from rearview.evaluation.progress import Steps

DEPTHS = (5, 10, 20)
TURNS_OF_A_DIALOGUE = (1, 3, 64)
"""Whoever takes a text only is asked with so many last turns of a dialogue; the best of these counts."""
TOP_K = 10
WARM_UP = 20


def quality(contest: Contest, name: str, dataset: Dataset, steps: Steps) -> Figures:
    """Keep a data set and ask all that there is to ask, one after the other; return evidence recall by depth."""
    rival, fresh = contest.rivals[name], _fresh(dataset)
    rival.ingest(fresh, 1, steps.start(f"{name}: keep", fresh.size))
    variants = [fresh.asked]
    if name != OWN and any(asked.query.dialogue for asked in fresh.asked):
        variants = [_shortened(fresh.asked, turns) for turns in TURNS_OF_A_DIALOGUE]
    on_asked = steps.start(f"{name}: ask", len(variants) * len(fresh.asked))
    found = []
    for asked in variants:
        answers = rival.recall(asked, max(DEPTHS), 1, on_asked)
        figures: Figures = {
            f"recall@{depth}": round(
                mean(recall_at(depth, hits, one.relevant) for hits, one in zip(answers.hits, asked, strict=True)), 4
            )
            for depth in DEPTHS
        }
        found.append(
            figures | {f"p{percent}_ms": percentile_milliseconds(answers.seconds, percent) for percent in (50, 95)}
        )
    best = max(range(len(found)), key=lambda at: float(found[at]["recall@10"]))
    turns = {"last_turns": TURNS_OF_A_DIALOGUE[best], "variants": found} if len(found) > 1 else {}
    return {**found[best], "asked": len(fresh.asked), "kept": fresh.size, **turns}


def keeping(contest: Contest, name: str, dataset: Dataset, clients: int, steps: Steps) -> Figures:
    """Keep a data set as fast as it goes; return the rate, what it took, and the space, for recalls later."""
    rival, fresh = contest.rivals[name], _fresh(dataset)
    size, before = contest.database_bytes(name), contest.spent(name)
    seconds = rival.ingest(fresh, clients, steps.start(f"{name}: keep", fresh.size))
    spent = contest.spent(name).since(before)
    return {
        "space": next(iter(fresh.spaces)),
        "kept": fresh.size,
        "per_s": round(fresh.size / seconds, 1),
        "bytes_per_memory": round((contest.database_bytes(name) - size) / fresh.size),
        "rss_mb": round(contest.rss_bytes(name) / 1024**2),
        "cpu_ms": _milliseconds(spent, fresh.size),
    }


def one_round(
    contest: Contest, spaces: dict[str, str], asked: Sequence[Asked], clients: int, seconds: float, steps: Steps
) -> Figures:
    """Let each contender answer for so many seconds, one after the other; each is asked the same, in its own space."""
    figures: Figures = {}
    on_round = steps.start(f"{clients} at a time", len(spaces))
    for name, space in spaces.items():
        mine = [replace(one, space=space) for one in asked]
        rival = contest.rivals[name]
        rival.recall(mine[-WARM_UP:], TOP_K, clients, lambda _: None)
        before = contest.spent(name)
        answers = rival.recall(mine[:-WARM_UP], TOP_K, clients, lambda _: None, seconds)
        spent = contest.spent(name).since(before)
        figures[name] = {
            "seconds": [round(one, 5) for one in answers.seconds],
            "elapsed": answers.elapsed,
            "spent": asdict(spent),
        }
        on_round(1)
    return figures


def idling(contest: Contest, seconds: float) -> Figures:
    """Return the CPU seconds a second that the database and Rearview's services take when nobody asks anything."""
    before = contest.spent(OWN)
    time.sleep(seconds)
    spent = contest.spent(OWN).since(before)
    return {"services": round(spent.own / seconds, 4), "database": round(spent.database / seconds, 4)}


def together(rounds: Sequence[Figures], name: str) -> Figures:
    """Return a contender's figures over several rounds."""
    mine = [one[name] for one in rounds]
    seconds = list(itertools.chain.from_iterable(one["seconds"] for one in mine))
    spent = Spent(*(sum(one["spent"][part] for one in mine) for part in ("own", "database", "embedding")))
    return {
        "answers": len(seconds),
        **{f"p{percent}_ms": percentile_milliseconds(seconds, percent) for percent in (50, 95)},
        "per_s": round(len(seconds) / sum(one["elapsed"] for one in mine), 2),
        "cpu_ms": _milliseconds(spent, len(seconds)),
    }


def _milliseconds(spent: Spent, units: int) -> dict[str, float]:
    parts = {**asdict(spent), "total": spent.total}
    return {part: round(1000 * seconds / max(1, units), 2) for part, seconds in parts.items()}


def _fresh(dataset: Dataset) -> Dataset:
    """The same in spaces that nobody has used: an interrupted part has left something in its own."""
    suffix = new_id().hex[-8:]
    return Dataset(
        {f"{space}-{suffix}": items for space, items in dataset.spaces.items()},
        [replace(asked, space=f"{asked.space}-{suffix}") for asked in dataset.asked],
    )


def _shortened(asked: Sequence[Asked], turns: int) -> list[Asked]:
    return [replace(one, query=replace(one.query, dialogue=one.query.dialogue[-turns:])) for one in asked]
