from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from rearview.domain.segmentation import (
    Boundary,
    OpenSegment,
    SegmentationRules,
    SegmentTurn,
    announces_topic,
    boundary_before,
)

RULES = SegmentationRules(boundary_cosine=0.5, turn_cosine=0.5)
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
NORTH = np.array([1.0, 0.0], dtype=np.float32)
EAST = np.array([0.0, 1.0], dtype=np.float32)
TURN = SegmentTurn(NORTH, START, 40)
SEGMENT = OpenSegment.starting_with(TURN).joined_by(TURN)


def test_a_like_turn_joins() -> None:
    assert boundary_before(SEGMENT, TURN, None, RULES) is None


def test_an_unlike_turn_begins_a_segment() -> None:
    assert boundary_before(SEGMENT, replace(TURN, plain=EAST), None, RULES) is Boundary.TOPIC


def test_one_stray_turn_is_not_a_change_of_topic() -> None:
    stray = replace(TURN, plain=EAST)
    assert boundary_before(SEGMENT, stray, TURN, RULES) is None
    assert boundary_before(SEGMENT, stray, stray, RULES) is Boundary.TOPIC


def test_one_turn_alone_does_not_end_a_segment_of_one() -> None:
    begun = OpenSegment.starting_with(TURN)
    other = replace(TURN, plain=EAST)
    assert boundary_before(begun, other, None, RULES) is None
    assert boundary_before(begun, other, other, RULES) is Boundary.TOPIC


def test_the_next_two_turns_are_looked_at_together() -> None:
    rules = replace(RULES, turn_cosine=-1.0)
    assert boundary_before(SEGMENT, replace(TURN, plain=EAST), None, rules) is None
    assert boundary_before(SEGMENT, replace(TURN, plain=EAST), replace(TURN, plain=EAST), rules) is Boundary.TOPIC


def test_similarity_is_taken_to_the_mean_of_the_last_three_turns() -> None:
    segment = SEGMENT
    for plain in (EAST, EAST, EAST):
        segment = segment.joined_by(replace(TURN, plain=plain))
    assert boundary_before(segment, replace(TURN, plain=EAST), None, RULES) is None
    assert boundary_before(segment, TURN, None, RULES) is Boundary.TOPIC


def test_a_pause_of_more_than_half_an_hour_ends_a_segment() -> None:
    at_the_limit = replace(TURN, occurred_at=START + timedelta(minutes=30))
    after_it = replace(TURN, occurred_at=START + timedelta(minutes=30, seconds=1))
    assert boundary_before(SEGMENT, at_the_limit, None, RULES) is None
    assert boundary_before(SEGMENT, after_it, None, RULES) is Boundary.GAP


def test_a_full_segment_ends_but_a_turn_is_never_cut() -> None:
    full = replace(SEGMENT, turns=RULES.max_turns)
    assert boundary_before(full, TURN, None, RULES) is Boundary.FULL
    huge = replace(TURN, characters=RULES.max_characters * 3)
    assert boundary_before(SEGMENT, huge, None, RULES) is Boundary.FULL
    assert boundary_before(OpenSegment.starting_with(huge), TURN, None, RULES) is Boundary.FULL


def test_untrusted_turns_keep_to_themselves() -> None:
    assert boundary_before(SEGMENT, replace(TURN, untrusted=True), None, RULES) is Boundary.TRUST


@pytest.mark.parametrize(
    "text",
    [
        "By the way, my passport expires in June",
        "Oh, btw do you know a good dentist?",
        "On another note, the car is fixed.",
        "Let's change the subject.",
        "顺便说一下，我下周要去上海",
        "换个话题，你会做饭吗",
        "好的，换个话题吧",
        "对了，顺便问一下，预算是多少",
        "Ok 换个话题, what about lunch",
        "另外还有一件事，我对花生过敏",
    ],
)
def test_a_change_of_topic_is_announced(text: str) -> None:
    assert announces_topic(text)


@pytest.mark.parametrize(
    "text",
    [
        "We went by the way of the coast",
        "The topic of my thesis is memory",
        "这个话题很有意思",
        "我想换个手机",
        "He stood by the wayside",
        "另一个人也来了",
        "",
    ],
)
def test_ordinary_talk_announces_nothing(text: str) -> None:
    assert not announces_topic(text)
