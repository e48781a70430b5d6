"""What a turn's text is, beside what it says."""

import pytest

from rearview.domain.turn_text import asks, is_question


@pytest.mark.parametrize("content", ["Where is it?", "你去哪了？", "你喜欢猫吗", "那你呢", '"Really?" ', "（对吗？）"])
def test_a_turn_that_ends_by_asking_is_a_question(content: str) -> None:
    assert is_question(content)
    assert asks(content)


@pytest.mark.parametrize("content", ["Did you? I did.", "为什么？我不知道。"])
def test_a_turn_may_ask_in_passing(content: str) -> None:
    assert asks(content)
    assert not is_question(content)


@pytest.mark.parametrize("content", ["I like cats.", "我喜欢猫。", "", "OK!"])
def test_a_statement_asks_nothing(content: str) -> None:
    assert not asks(content)
    assert not is_question(content)
