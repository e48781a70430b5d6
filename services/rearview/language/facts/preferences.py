"""What the speaker likes, dislikes, is used to and would have for once, with strength: the rules of both languages."""

from rearview.language.facts import preferences_en, preferences_zh
from rearview.language.facts.statement import FactRule

RULES: tuple[FactRule, ...] = (
    *preferences_zh.FROM_NOW_ON,
    *preferences_en.FROM_NOW_ON,
    *preferences_zh.FAVOURITES,
    *preferences_en.FAVOURITES,
    *preferences_zh.FOR_ONCE,
    *preferences_en.FOR_ONCE,
    *preferences_zh.LIKES,
    *preferences_en.LIKES,
)
