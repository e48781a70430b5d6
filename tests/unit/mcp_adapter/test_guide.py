"""The agent guide's own rules, on utterances labelled by hand."""

from pathlib import Path

import pytest
import yaml

from rearview.mcp_adapter.guide import LANGUAGES, Action, Guide

GUIDE = Guide.load()
HERE = Path(__file__).parent


def labelled(name: str) -> list[tuple[str, Action]]:
    content = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return [(utterance, Action(action)) for action, utterances in content.items() for utterance in utterances]


UTTERANCES = labelled("utterances.yaml")
HELD_OUT = labelled("held_out_utterances.yaml")


def test_there_are_enough_utterances_of_each_kind() -> None:
    assert len(UTTERANCES) >= 200
    assert {action for _, action in UTTERANCES} == set(Action)
    assert len(set(UTTERANCES)) == len(UTTERANCES)


@pytest.mark.parametrize(("utterance", "action"), UTTERANCES, ids=lambda value: str(value))
def test_the_rules_decide_as_a_person_did(utterance: str, action: Action) -> None:
    assert GUIDE.decide(utterance) is action


def test_small_talk_that_the_rules_never_saw_calls_nothing() -> None:
    called = [text for text, action in HELD_OUT if action is Action.NONE and GUIDE.decide(text) is not Action.NONE]
    assert called == []


def test_held_out_utterances_are_decided_as_often_as_the_documents_say() -> None:
    right = sum(GUIDE.decide(text) is action for text, action in HELD_OUT)
    document = (HERE.parents[2] / "docs/mcp.md").read_text(encoding="utf-8")
    assert f"{right} of {len(HELD_OUT)}" in document


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_shows_every_rule_with_its_words_and_examples(language: str) -> None:
    text = GUIDE.text(language)
    for rule in GUIDE.rules:
        for piece in (rule.title[language], *rule.phrases[language], *rule.examples[language]):
            assert piece in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_of_the_guide_follows_its_rule(language: str) -> None:
    shown = [(example, rule.action) for rule in GUIDE.rules for example in rule.examples[language]]
    assert [(example, GUIDE.decide(example)) for example, _ in shown] == shown


def test_instructions_say_in_both_languages_when_not_to_call() -> None:
    assert "Greetings" in GUIDE.instructions()
    assert "打招呼" in GUIDE.instructions()
