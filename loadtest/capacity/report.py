"""The model's rows for people and for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from textwrap import wrap

from loadtest.capacity.model import Row
from loadtest.capacity.workload import Workload

BEGIN = "<!-- capacity: begin, written by `make capacity` -->"
END = "<!-- capacity: end -->"
_WIDTH = 120
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def markdown(workload: Workload, rows: Sequence[Row]) -> str:
    """Return the inputs in a paragraph and the rows as a table."""
    inputs = ", ".join(f"{name} {value:,}" for name, value in workload.model_dump().items())
    lines = [*wrap(f"Inputs: {inputs}.", _WIDTH), "", "| part | what | amount | from |", "|---|---|---|---|"]
    last = ""
    for row in rows:
        part, last = ("" if row.part == last else row.part), row.part
        lines.append(f"| {part} | {row.name} | {amount(row)} | {row.basis} |")
    return "\n".join(lines) + "\n"


def as_json(workload: Workload, rows: Sequence[Row]) -> dict[str, object]:
    """Return inputs and rows, amounts in their plain units."""
    return {"inputs": workload.model_dump(), "rows": [asdict(row) for row in rows]}


def amount(row: Row) -> str:
    """Return an amount as a person reads it: bytes with decimal prefixes, fractions below ten only."""
    if not row.unit.startswith("bytes"):
        digits = 1 if row.amount < 10 and row.amount % 1 else 0
        return f"{row.amount:,.{digits}f} {row.unit}".replace(" /s", "/s")
    value, power = row.amount, 0
    while value >= 1000 and power < len(_PREFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {_PREFIXES[power]}B{row.unit.removeprefix('bytes')}"


def put_into(document: str, text: str) -> str:
    """Return a document with the text between its markers. Raises: ValueError: it lacks them."""
    before, begin, behind = document.partition(BEGIN)
    _, end, after = behind.partition(END)
    if not begin or not end:
        raise ValueError(f"the document lacks the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}{END}{after}"
