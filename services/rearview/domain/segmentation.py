"""Topic segmentation: where one episode of a session ends and the next begins, decided turn by turn.

A window slides over the turns: the last three of the open segment are compared with the next two, because single turns
("Really?", "好啊") say little of their topic. Vectors are unsmoothed, since smoothed ones carry their neighbours and
would see no boundary at all, and corrected for their language, since a change of language is no change of topic. The
thresholds belong to the model's card.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

LOOK_BACK = 3
"""How many last turns of the open segment stand for its topic."""

LOOK_AHEAD = 2
"""How many next turns stand for the topic that may begin."""

DEFAULT_LONGEST_GAP = timedelta(minutes=30)
DEFAULT_MAX_TURNS = 40
DEFAULT_MAX_CHARACTERS = 6_000

_ANNOUNCES_TOPIC = re.compile(
    r"^\W*(?:(?:oh|well|ok|okay|so|anyway|hey|and|but|对了|哦|嗯|好的?|行)[\s,.!，。！、:：…]*)*"
    r"(?:by the way|btw|on (?:an(?:other)|a different) (?:note|topic|subject)|changing (?:the )?(?:topic|subject)"
    r"|(?:let'?s|to) (?:change|switch) (?:the )?(?:topic|subject)s?|(?:a )?different (?:topic|subject)"
    r"|unrelated(?:,|ly| question)"
    r"|(?:one|another) (?:more|other) thing\b|speaking of something else|off[- ]topic|new topic|next topic"
    r"|顺便(?:说|问|提)|順便(?:說|問|提)|换(?:个|一个)?话题|換(?:個|一個)?話題|另外(?:问|说|还有)?(?:一下|个事|一件事|一个问题)"
    r"|说(?:点|些)?别的|聊(?:点|些)?别的|说起另(?:外)?一件|话说回来|題外話|题外话|还有(?:一件事|个事|件事))",
    re.IGNORECASE,
)


class Boundary(StrEnum):
    """Why a segment ended before a turn."""

    TOPIC = "topic"
    ANNOUNCED = "announced"
    GAP = "gap"
    FULL = "full"
    TRUST = "trust"


@dataclass(frozen=True, slots=True)
class SegmentationRules:
    """When a segment ends. `boundary_cosine` is the card's `segment_boundary_cosine`, for the next LOOK_AHEAD turns;
    `turn_cosine` its `segment_turn_cosine`, for one turn with none known after it."""

    boundary_cosine: float
    turn_cosine: float = -1.0
    longest_gap: timedelta = DEFAULT_LONGEST_GAP
    max_turns: int = DEFAULT_MAX_TURNS
    max_characters: int = DEFAULT_MAX_CHARACTERS


@dataclass(frozen=True, slots=True, eq=False)
class SegmentTurn:
    """What segmentation looks at: the turn's (d,) vector, corrected for its language, its time and size, and whether it
    changes the topic in so many words. Turns of untrusted origin never share a segment with others."""

    plain: NDArray[np.float32]
    occurred_at: datetime
    characters: int
    announced: bool = False
    untrusted: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OpenSegment:
    """The segment that the next turn may join: its last turns' vectors (at most LOOK_BACK) and its size."""

    recent: tuple[NDArray[np.float32], ...]
    last_occurred_at: datetime
    turns: int
    characters: int
    untrusted: bool = False

    @classmethod
    def starting_with(cls, turn: SegmentTurn) -> "OpenSegment":
        """Return the segment of one turn."""
        return cls((turn.plain,), turn.occurred_at, 1, turn.characters, turn.untrusted)

    def joined_by(self, turn: SegmentTurn) -> "OpenSegment":
        """Return the segment after the turn."""
        return replace(
            self,
            recent=(*self.recent, turn.plain)[-LOOK_BACK:],
            last_occurred_at=max(self.last_occurred_at, turn.occurred_at),
            turns=self.turns + 1,
            characters=self.characters + turn.characters,
        )


def boundary_before(
    segment: OpenSegment, turn: SegmentTurn, following: SegmentTurn | None, rules: SegmentationRules
) -> Boundary | None:
    """Return why `turn` begins a new segment, or None when it joins.

    One stray turn is not a change of topic: where the turn after it is known, both count, and where it
    is not, one turn alone does not end a segment of one. A turn is never cut, so one
    longer than a segment may be makes a segment by itself.
    """
    if turn.untrusted != segment.untrusted:
        return Boundary.TRUST
    if turn.occurred_at - segment.last_occurred_at > rules.longest_gap:
        return Boundary.GAP
    if segment.turns >= rules.max_turns or segment.characters + turn.characters > rules.max_characters:
        return Boundary.FULL
    if turn.announced:
        return Boundary.ANNOUNCED
    if following is None or following.untrusted != turn.untrusted:
        if len(segment.recent) < LOOK_AHEAD:
            return None
        return Boundary.TOPIC if _alike(segment, turn.plain) < rules.turn_cosine else None
    return Boundary.TOPIC if _alike(segment, turn.plain + following.plain) < rules.boundary_cosine else None


def announces_topic(text: str) -> bool:
    """Whether a turn opens by saying that it changes the topic ("by the way", "换个话题")."""
    return _ANNOUNCES_TOPIC.search(text) is not None


def _alike(segment: OpenSegment, ahead: NDArray[np.float32]) -> float:
    behind = np.sum(segment.recent, axis=0)
    lengths = float(np.linalg.norm(behind)) * float(np.linalg.norm(ahead))
    return float(behind @ ahead) / lengths if lengths > 0 else 0.0
