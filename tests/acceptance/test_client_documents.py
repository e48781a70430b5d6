"""The blocks of docs/python-client.md and docs/adapters.md run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chat_server import ChatReply, ChatServer
from tests.support.document_blocks import assert_shows, blocks, marks, run_block
from tests.support.left_as_found import left_as_found
from tests.support.supervised_stack import ROOT, SupervisedStack

DOCUMENTS = [ROOT / "docs/python-client.md", ROOT / "docs/adapters.md"]
BLOCKS = {name: block for document in DOCUMENTS for name, block in blocks(document).items()}
# What the output of each block must show, in this order.
EXPECTED = {
    "session": ["京都的预算定在一万二"],
    "session-async": ["5 Tickets are valid", "4 好的", "3 Every ten", "2 every ten", "1 Which trains"],
    "memories": ["The ladder is in the cellar", "['The ladder is in the garage.']", "NOT_FOUND", "4", "content"],
    "traces": ["recallTraces/"],
    "langgraph": ["seat", "她坐飞机喜欢靠窗", "[('users', 'u1')]", "None"],
    "openai-agents": ["Gate B17.", "我的登机口是 B17。", "Gate B17.", "B17"],
}


def test_every_block_is_marked_and_known_here() -> None:
    for document in DOCUMENTS:
        assert document.read_text(encoding="utf-8").count("```python") == len(marks(document))
    assert set(BLOCKS) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_block_runs(tmp_path: Path, stack: SupervisedStack, name: str) -> None:
    (tmp_path / ".rearview").symlink_to(stack.folder.root)
    with left_as_found(stack), ChatServer(ChatReply("Gate B17.")).running() as provider:
        variables = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        assert_shows(run_block(BLOCKS[name], tmp_path, **variables), EXPECTED[name])
