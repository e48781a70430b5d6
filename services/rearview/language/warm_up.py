"""Loading, when a service starts, what the first text would otherwise wait for: dictionaries and patterns."""

from datetime import datetime
from uuid import UUID

from rearview.ports.analyzer import Analyzer
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.query_reader import QueryReader

_TEXTS = (
    "下周三下午三点提醒我给李雷打电话，我对花生过敏，住在成都，记住预算是八千块。",
    "Please remember that Anna moved to Lisbon last May; I prefer tea and call her at 3pm on Friday.",
)
_NOWHERE = UUID(int=0)


def warm_up_analysis(analyzer: Analyzer, now: datetime) -> None:
    """Analyse a text of each language."""
    for text in _TEXTS:
        analyzer.analyze(text, reference=now)


def warm_up_queries(reader: QueryReader, hasher: KeywordHasher, now: datetime) -> None:
    """Read a query of each language."""
    for text in _TEXTS:
        reader.read(text, reference=now)
        hasher.keywords(_NOWHERE, text)
        hasher.translations(_NOWHERE, text)
