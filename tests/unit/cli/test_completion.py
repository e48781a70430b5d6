"""Shells complete commands, options and what an option can be."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.supervised_stack import environment

# As the console script `rearview` runs it.
PROGRAM = "import sys; sys.argv = ['rearview']; from rearview.cli.__main__ import main; main()"


def run(**variables: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(**variables), capture_output=True, text=True, check=True
    )
    return result.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("rearview re", {"remember", "recall", "receipt", "restore"}),
        ("rearview namespaces ", {"create", "list", "delete"}),
        ("rearview import --fr", {"--from"}),
        ("rearview import --from ", {"rearview", "mem0", "hindsight"}),
    ],
)
def test_bash_is_offered_what_fits(typed: str, offered: set[str]) -> None:
    place = len(typed.split()) - (0 if typed.endswith(" ") else 1)
    found = run(_REARVIEW_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(place)).split()
    assert offered <= set(found)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_told_how_to_ask(shell: str) -> None:
    assert "_REARVIEW_COMPLETE" in run(_REARVIEW_COMPLETE=f"source_{shell}")
