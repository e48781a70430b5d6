"""What the documents say of the code, and where their links lead."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from rearview.domain import errors
from rearview.domain.errors import FieldViolation, InvalidFields, RearviewError
from rearview.rpc.errors import code_of

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("docs", "docker", "helm", "k8s", "loadtest", "protos", "services", "tests")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
REASON = re.compile(r"((?:^  //[^\n]*\n)+)^  ERROR_REASON_(\w+) = [1-9]\d*;", re.MULTILINE)
ROW = re.compile(r"^\| `([A-Z_]+)` \| ([A-Z_]+) \| ([^|]*) \| ([^|]+) \|$", re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Return what can stand behind # in a link to a document, as code hosts make it of headings."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(document: Path) -> None:
    dead = []
    for found in LINK.finditer(FENCED.sub("", document.read_text(encoding="utf-8"))):
        target = unquote(found[1] or found[2])
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (document.parent / file).resolve() if file else document
        if not place.exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            dead.append(target)
    assert dead == []


def documented_reasons() -> dict[str, tuple[str, set[str]]]:
    """Return status and metadata keys of each reason, as its comment in the proto gives them."""
    proto = (ROOT / "protos/rearview/v1/error_reason.proto").read_text(encoding="utf-8")
    reasons = {}
    for comment, name in REASON.findall(proto):
        text = " ".join(line.strip().removeprefix("//").strip() for line in comment.splitlines())
        metadata = text.rpartition("Metadata: ")[2]
        reasons[name] = (text.partition(".")[0], set(re.findall(r"`(\w+)`", metadata)))
    return reasons


def test_the_table_of_errors_is_that_of_the_proto() -> None:
    table = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    rows = {name: (status, set(re.findall(r"`(\w+)`", keys))) for name, status, keys, _ in ROW.findall(table)}
    assert rows == documented_reasons()


def test_the_statuses_of_the_proto_are_those_on_the_wire() -> None:
    told = {}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, RearviewError) and "reason" in vars(kind):
            error = InvalidFields(FieldViolation("a", "b")) if kind is InvalidFields else kind("says why")
            told[error.reason] = code_of(error).name
    assert told == {name: status for name, (status, _) in documented_reasons().items()}
