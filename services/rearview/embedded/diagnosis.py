"""The outcome of one check of `rearview doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a check ended. `not_checked` is no failure: the part does not run, or this stack has none."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One check: what was found, and what to do about it."""

    part: str
    verdict: Verdict
    finding: str
    remedy: str = ""


def ok(part: str, finding: str) -> Diagnosis:
    return Diagnosis(part, Verdict.OK, finding)


def warning(part: str, finding: str, remedy: str) -> Diagnosis:
    return Diagnosis(part, Verdict.WARNING, finding, remedy)


def failed(part: str, finding: str, remedy: str) -> Diagnosis:
    return Diagnosis(part, Verdict.FAILED, finding, remedy)


def not_checked(part: str, finding: str, remedy: str = "") -> Diagnosis:
    return Diagnosis(part, Verdict.NOT_CHECKED, finding, remedy)
