import pytest

from rearview.domain.echo import candidate_hashes, sentence_hashes, without_echoes

BUDGET_ZH = "我的预算是8000元，最好住在西湖边上。"
BUDGET_EN = "My budget is 8,000 yuan and I want to stay by the lake."
MIXED = "项目 Apollo 的 release 定在三月十五日。"


def rest(text: str, *handed_out: str) -> str:
    known = frozenset(one for memory in handed_out for one in sentence_hashes(memory))
    found = frozenset(one for one in candidate_hashes(text) if one in known)
    return without_echoes(text, found).rest


@pytest.mark.parametrize("memory", [BUDGET_ZH, BUDGET_EN, MIXED])
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "“{}”",
        "[相关记忆]\n- 2024-01-15: {} [1]",
        "[Related memories]\n- 2024-01-15: {} [1]\n",
        '{{"memories": [{{"content": "{}"}}]}}'.replace("memories", "1").replace("content", "2"),
    ],
)
def test_nothing_is_left_of_what_was_handed_out(memory: str, frame: str) -> None:
    assert rest(frame.format(memory), memory) == ""


def test_a_line_with_a_speaker_is_found_without_it_and_with_it() -> None:
    assert rest(f"- 2024-01-15: Anna: {BUDGET_EN} [1]", f"Anna: {BUDGET_EN}") == ""
    assert "lake" not in rest(f"- 2024-01-15: Anna: {BUDGET_EN} [1]", BUDGET_EN)


@pytest.mark.parametrize(
    ("prompt", "memory", "left"),
    [
        (f"Known so far: {BUDGET_EN} Which hotel do you suggest?", BUDGET_EN, "Which hotel do you suggest?"),
        (f"根据之前的记录：{BUDGET_ZH}请推荐三家酒店。", BUDGET_ZH, "请推荐三家酒店。"),
        ("记得我的预算是8000元，请推荐酒店吧。我还想带上狗。", "记得我的预算是8000元", "我还想带上狗。"),
        (f"{MIXED} But the demo for Anna is a week earlier.", MIXED, "But the demo for Anna is a week earlier."),
    ],
)
def test_the_rest_of_a_prompt_is_left(prompt: str, memory: str, left: str) -> None:
    kept = rest(prompt, memory)
    assert left in kept
    assert "8" not in kept
    assert "release" not in kept


@pytest.mark.parametrize(
    "own",
    [
        "I can spend 8,000 yuan at most, and it has to be near the water.",
        "花费控制在8000以内，酒店靠近西湖就行。",
        "My budget is 9,000 yuan and I want to stay by the lake.",
    ],
)
def test_own_words_and_other_figures_are_no_echo(own: str) -> None:
    assert rest(own, BUDGET_EN, BUDGET_ZH) == own


@pytest.mark.parametrize("courtesy", ["Yes, I do.", "好的。", "Okay!"])
def test_short_sentences_are_never_echoes(courtesy: str) -> None:
    assert rest(courtesy, courtesy) == courtesy


def test_hashes_hold_no_text_and_do_not_depend_on_form() -> None:
    assert sentence_hashes(BUDGET_EN) == sentence_hashes(BUDGET_EN.upper().replace(",", ""))
    assert all("budget" not in one for one in sentence_hashes(BUDGET_EN))
