"""Loading, when a service starts, what the first text would otherwise wait seconds for: dictionaries and patterns."""

from datetime import datetime

from rearview.ports.analyzer import Analyzer

_TEXTS = (
    "下周三下午三点提醒我给李雷打电话，我对花生过敏，住在成都，记住预算是八千块。",
    "Please remember that Anna moved to Lisbon last May; I prefer tea and call her at 3pm on Friday.",
)


def warm_up_analysis(analyzer: Analyzer, now: datetime) -> None:
    """Analyse a text of each language."""
    for text in _TEXTS:
        analyzer.analyze(text, reference=now)
