"""What a request asks for."""

from datetime import UTC, datetime
from uuid import UUID

from rearview.domain.event import EventRole
from rearview.domain.principal import Scope
from rearview.domain.recall import QueryTurn, RecallQuery
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.query_reader import LanguageQueryReader
from rearview.retriever.question import ASSISTANT_WEIGHT, QuestionReader

NOW = datetime(2024, 3, 10, tzinfo=UTC)


def turn(role: EventRole, content: str) -> QueryTurn:
    return QueryTurn(role, content)


def test_of_a_dialogue_the_other_sides_last_two_turns_count_half() -> None:
    query = RecallQuery(
        text="",
        reference_time=NOW,
        dialogue=(
            turn(EventRole.ASSISTANT, "Good morning"),
            turn(EventRole.USER, "我想去杭州"),
            turn(EventRole.ASSISTANT, "By train?"),
            turn(EventRole.ASSISTANT, "Or by boat?"),
            turn(EventRole.USER, "the first one"),
        ),
    )
    question = QuestionReader(LanguageQueryReader(), KeywordHashes()).question(query, NOW)
    assert question.is_dialogue
    assert question.text == "the first one"
    assert question.texts == (
        ("我想去杭州", 1.0),
        ("the first one", 1.0),
        ("By train?", ASSISTANT_WEIGHT),
        ("Or by boat?", ASSISTANT_WEIGHT),
    )


def test_words_count_with_the_weights_of_their_turns() -> None:
    reader, hasher = QuestionReader(LanguageQueryReader(), KeywordHashes()), KeywordHashes()
    query = RecallQuery(
        text="",
        reference_time=NOW,
        dialogue=(turn(EventRole.ASSISTANT, "Tea or coffee?"), turn(EventRole.USER, "tea")),
    )
    scope = Scope(UUID(int=1), UUID(int=2), "main")
    (search,) = reader.searches(query, reader.question(query, NOW), [scope], None)
    tea, coffee = (hasher.keywords(scope.namespace_id, word)[0] for word in ("tea", "coffee"))
    assert search.terms == {tea: 1.0 + ASSISTANT_WEIGHT, coffee: ASSISTANT_WEIGHT}
