"""`python -m loadtest.bench`: one report of Rearview alone and beside its peers; see loadtest/README.md.

Results are kept part by part in the folder: what an interrupted run has measured, the next one does not measure again.
"""

import argparse
import itertools
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from loadtest.bench.contest import Contest, contest
from loadtest.bench.datasets import Dataset, locomo, made_up, madial
from loadtest.bench.measure import idling, keeping, one_round, quality
from loadtest.bench.own import COMMANDS, IN_BULK, measured, own_stack
from loadtest.bench.parts import Figures, Parts
from loadtest.bench.report import write_report
from loadtest.bench.rival import OWN, RIVALS, python_of
from loadtest.bench.usage import Machine
from rearview.domain.text import Language
from rearview.embedded.paths import DataFolder
from rearview.evaluation.progress import shown_steps

CLIENTS = (1, 8)
KEEPING_CLIENTS = 2
QUESTIONS = 5_000
IDLE_SECONDS = 10.0

err = Console(stderr=True)


def main() -> None:
    """Measure what is asked for and has not been measured yet, and write the report."""
    options = _options()
    parts = Parts(options.folder / "parts", lambda text: err.print(text, highlight=False))
    parts.run("machine", lambda: asdict(Machine.here()))
    _alone(parts, options)
    names = [OWN, *(name for name in options.peers if python_of(name).exists())]
    for name in options.peers:
        if name not in names:
            err.print(f"[bold red]SKIPPED: {name} has no environment; make bench-peers makes it[/]")
    if len(names) > 1 and (options.locomo or options.madial or options.peer_memories):
        with own_stack(options.folder / "stack"):
            _quality(parts, options, names)
            _speed(parts, options, names)
    err.print(f"The report is {write_report(parts, options.folder)}")


def _alone(parts: Parts, options: argparse.Namespace) -> None:
    wanted = [
        (what, size)
        for size, what in itertools.product(sorted(options.sizes), options.alone)
        if what in IN_BULK or size <= options.most_written
    ]
    if not wanted:
        return
    with own_stack(options.folder / "alone") as data_dir:
        for what, size in wanted:

            def measure(what: str = what, size: int = size) -> Figures:
                return measured(what, size, data_dir)

            parts.run(f"alone-{what}-{size}", measure)


def _quality(parts: Parts, options: argparse.Namespace, names: Sequence[str]) -> None:
    sets: dict[str, Callable[[], Dataset]] = {}
    if options.locomo:
        sets["locomo"] = lambda: locomo(options.locomo, options.corrections)
    if options.madial:
        sets["madial-zh"] = lambda: madial(options.madial, Language.ZH)
        sets["madial-en"] = lambda: madial(options.madial, Language.EN)
    for called, read in sets.items():
        missing = [name for name in names if parts.read(f"quality-{called}-{name}") is None]
        if not missing:
            continue
        with _contest(options, called, missing) as contenders:
            dataset = read()
            for name in missing:

                def measure(name: str = name, dataset: Dataset = dataset, contenders: Contest = contenders) -> Figures:
                    with shown_steps(err) as steps:
                        return quality(contenders, name, dataset, steps)

                parts.run(f"quality-{called}-{name}", measure)


def _speed(parts: Parts, options: argparse.Namespace, names: Sequence[str]) -> None:
    size = options.peer_memories
    if not size:
        return
    dataset = made_up("speed", size, QUESTIONS)
    spaces: dict[str, str] = {}
    with _contest(options, "speed", names) as contenders:
        for name in names:

            def kept(name: str = name) -> Figures:
                with shown_steps(err) as steps:
                    return keeping(contenders, name, dataset, KEEPING_CLIENTS, steps)

            spaces[name] = parts.run(f"keep-{size}-{name}", kept)["space"]
        parts.run("idle", lambda: idling(contenders, IDLE_SECONDS))
        for number, clients in itertools.product(range(options.rounds), CLIENTS):

            def asked(clients: int = clients) -> Figures:
                with shown_steps(err) as steps:
                    return one_round(contenders, spaces, dataset.asked, clients, options.round_seconds, steps)

            parts.run(f"speed-{size}-{clients}-{number}", asked)


def _contest(options: argparse.Namespace, purpose: str, names: Sequence[str]) -> AbstractContextManager[Contest]:
    return contest(options.folder / "contest", purpose, names, DataFolder(options.folder / "stack"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench", description=__doc__)
    add = parser.add_argument
    add("--folder", type=Path, default=Path("build/bench"), help="where results and the report go")
    add("--sizes", type=_numbers, default=[1_000], help="numbers of memories, for Rearview alone: 1000,10000,100000")
    add("--alone", type=_names(COMMANDS), default=list(COMMANDS), help="what to measure of Rearview alone")
    add("--most-written", type=int, default=10_000, help="largest size of what is written through the API")
    add("--peers", type=_names(RIVALS), default=list(RIVALS), help="whom to stand beside it")
    add("--peer-memories", type=int, default=1_000, help="turns that everybody's times are measured with; 0: none")
    add("--rounds", type=int, default=3, help="rounds of recalls, everybody in turn")
    add("--round-seconds", type=float, default=10.0, help="how long each answers in a round")
    add("--locomo", type=_file, help="a LoCoMo file, for quality")
    add("--corrections", type=_file, help="its corrected evidence")
    add("--madial", type=_file, help="a folder of MADial-Bench, for quality")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.replace(",", " ").split()]


def _names(known: Collection[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        chosen = text.replace(",", " ").split()
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"no such: {', '.join(unknown)}; there are {', '.join(known)}")
        return chosen

    return names


def _file(text: str) -> Path | None:
    if not text:
        return None
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"{text} is not there")
    return Path(text)


if __name__ == "__main__":
    main()
