"""Texts that are made to keep patterns busy: what a text costs grows with its length, not with its square.

CPU time of four times the text is compared with that of the text; a square would be sixteen times.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from rearview.domain.segmentation import announces_topic
from rearview.domain.text import MODEL_CATEGORIES, PiiCategory
from rearview.language.canonical_text import canonical_query
from rearview.language.entities import identifiers
from rearview.language.facts import RuleFactExtractor
from rearview.language.facts.asides import without_asides
from rearview.language.facts.extractor import MAX_CHARACTERS
from rearview.language.intent import intent
from rearview.language.near_duplicate import signature
from rearview.language.pii import PatternRedactor
from rearview.language.signals import turn_signals
from rearview.language.time_expressions import find_times

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHORT_CHARACTERS, TIMES = 1_250, 4
MOST_GROWTH = 10.0
LEAST_SECONDS = 0.01
"""What is cheaper than this is not compared: a square of it does no harm."""

PARTS = (
    *(
        " ",
        "\n",
        ", ",
        "，",
        "(",
        '"',
        "“",
        "。",
        "?",
        "-",
        "1",
        "1 ",
        "1,",
        "1-",
        "十",
        "一百万",
        "上",
        "年",
        "好",
        "先",
    ),
    *(
        "a",
        "a ",
        "a.",
        "a@",
        "A ",
        "key=",
        "://a:",
        "0:",
        "eyJa.",
        "not ",
        "next ",
        "I ",
        "我",
        "我喜欢",
        "说过",
        "e\u0301",
    ),
    *("生", "明天", "born ", "password is ", "护照", "-----BEGIN ", "[PHONE_1]", "Li Lei ", "和", "if ", "you know, "),
    *("I have ", "what ", "so ", "我有", "一只", "like a ", "my sister, Ann, ", "one hundred ", "for years "),
)
HEADS = ("", "You know, my key 我说过 ")
FACTS = RuleFactExtractor()
REDACTOR = PatternRedactor()
PATTERN_CATEGORIES = frozenset(PiiCategory) - MODEL_CATEGORIES
READERS: dict[str, Callable[[str], object]] = {
    "redaction": lambda text: REDACTOR.redact(text, PATTERN_CATEGORIES),
    "signals": turn_signals,
    "intent": lambda text: intent(text, turn_signals(text)),
    "segmentation": announces_topic,
    "times": lambda text: find_times(text, NOW, UTC),
    "near duplicates": signature,
    "canonical text": canonical_query,
    "identifiers": identifiers,
    # Both read no further than MAX_CHARACTERS of a turn.
    "facts": lambda text: FACTS.extract_facts(text[:MAX_CHARACTERS], "user", reference=NOW),
    "asides": lambda text: without_asides(text[:MAX_CHARACTERS]),
}


def cpu_seconds(read: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    read(text)
    return time.process_time() - begun


@pytest.mark.parametrize("reader", READERS)
def test_cost_grows_with_length(reader: str) -> None:
    read = READERS[reader]
    for sample in ("我的预算是八千。", "My budget is 8,000 and tomorrow is fine.", "预算 budget 8000"):
        read(sample)
    for head in HEADS:
        for part in PARTS:
            short = head + part * (SHORT_CHARACTERS // len(part)) + "x"
            long = head + part * (TIMES * SHORT_CHARACTERS // len(part)) + "x"
            seconds = cpu_seconds(read, long)
            if seconds > LEAST_SECONDS * TIMES:
                # The least of three: what else the machine does adds to a single figure.
                base = min(cpu_seconds(read, short) for _ in range(3))
                least = min(seconds, *(cpu_seconds(read, long) for _ in range(2)))
                assert least < MOST_GROWTH * max(base, LEAST_SECONDS), (head, part, base, least)
