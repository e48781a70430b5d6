"""What a cached answer was asked for: whatever is added and shares a word with it might change it."""

from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest

from rearview.domain.addition import Addition, could_change
from rearview.domain.principal import Access, Caller, NamespaceAccess, Role
from rearview.domain.recall import RecallQuery
from rearview.gateway.cache.answer_life import asked_in
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.query_reader import LanguageQueryReader
from rearview.v1 import recall_pb2

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLACE = UUID(int=3)


@pytest.mark.parametrize(
    ("question", "added", "changes"),
    [
        ("雨伞是谁的？", "那把雨伞是小王的。", True),
        ("雨伞是谁的？", "The umbrella is Anna's.", True),
        ("Whose umbrella is it?", "雨伞是小王的。", True),
        ("我的 umbrella 呢？", "雨伞在门口。", True),
        ("你呢？", "Lunch was late.", True),
        ("雨伞是谁的？", "Lunch was late.", False),
        ("Whose umbrella is it?", "午饭吃得晚。", False),
    ],
)
def test_words_of_either_language_that_are_added_might_change_it(question: str, added: str, changes: bool) -> None:
    reader, hasher = LanguageQueryReader(), KeywordHashes()
    asked = asked_in(
        RecallQuery(question, NOW),
        reader.read(question, reference=NOW),
        Caller(UUID(int=1), "agent", Role.READ, {"team": NamespaceAccess(PLACE, Access.READ)}),
        [],
        recall_pb2.RecallResponse(),
        {},
        hasher,
        reader,
    )
    addition = Addition("s", frozenset(hasher.keywords(PLACE, added)), frozenset(), np.zeros((0, 4), np.float32), ())
    assert could_change([addition], asked[PLACE]) is changes
