"""Documents name what there is: commands with their options, variables, metrics, and objects of the chart."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from helm.tools.settings import CONFIGS, settings_of
from rearview.cli.__main__ import app
from rearview.mcp_adapter.config import McpConfig
from tests.support.expressions import of_panels, of_rules
from tests.support.scrape import metrics_of

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"])
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Only where an identity provider is named.
SELDOM = {"rearview_gateway_token_key_reads_total"}


def commands(text: str) -> Iterator[str]:
    """Yield each `rearview ...` of a document, as one would type it."""
    yield from re.findall(r"`(rearview [^`\n]+)`", text)
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            found = re.match(r"\s*(?:\$ )?(rearview .+)", line)
            if found:
                yield re.split(r" #| && | [|>] ", found[1])[0].strip()


def unknown(command: str) -> list[str]:
    """Return the words of a command that it would refuse as no command or no option of its own."""
    part: Any = typer.main.get_command(app)
    options, strange, after_option = {"--help"}, list[str](), False
    for word in shlex.split(command)[1:]:
        if hasattr(part, "commands") and not word.startswith("-") and not after_option:
            if word not in part.commands:
                return [word]
            part = part.commands[word]
        options |= {name for each in part.params for name in (*each.opts, *each.secondary_opts)}
        after_option = word.startswith("-")
        if word.startswith("-") and word.partition("=")[0] not in options:
            strange.append(word)
    return strange


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_are_the_command_lines(document: Path) -> None:
    refused = {each: unknown(each) for each in commands(document.read_text("utf-8"))}
    assert {each: words for each, words in refused.items() if words} == {}


def test_a_command_that_is_none_is_told() -> None:
    assert unknown("rearview recal x") == ["recal"]
    assert unknown("rearview --gateway https://h:1") == ["--gateway"]
    assert unknown("rearview recall x --gateway https://h:1") == []


def test_metrics_are_shown_somewhere() -> None:
    shown = {name for each in [*of_panels(), *of_rules()] for name in metrics_of(each.text)} | SELDOM
    whole = {re.sub("_(bucket|sum|count)$", "", name) for name in shown} | shown
    named = re.compile(r"\brearview_(?:gateway|writer|retriever|lifecycle|mcp)_\w*[a-z0-9]\b")
    told = {name for document in DOCUMENTS for name in named.findall(document.read_text("utf-8"))}
    assert "rearview_lifecycle_queue_oldest_seconds" in told
    assert told - whole == set()


@pytest.mark.parametrize("name", ["troubleshooting.md", "troubleshooting.zh.md", "runbooks.md", "scale-out.md"])
def test_variables_are_settings_that_something_reads(name: str) -> None:
    read = {setting.variable for service in CONFIGS for setting in settings_of(service)} | {"REARVIEW_GATEWAY_CA_FILE"}
    read |= {f"REARVIEW_{field.upper()}" for field in McpConfig.model_fields}
    told = set(re.findall(r"\bREARVIEW_[A-Z0-9_]+\b", (ROOT / "docs" / name).read_text("utf-8")))
    assert told - read == set()


def test_objects_of_a_release_are_those_of_the_chart() -> None:
    rendered = yaml.safe_load_all((ROOT / "k8s" / "rendered.yaml").read_text("utf-8"))
    services = {part["metadata"]["name"] for part in rendered if part["kind"] == "Service"}
    told = {found for each in DOCUMENTS for found in re.findall(r"\bsvc/([\w-]+)", each.read_text("utf-8"))}
    assert "rv-rearview-gateway" in told
    assert told <= services
