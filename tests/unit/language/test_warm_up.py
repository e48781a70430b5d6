"""Services load their dictionaries when they start, not with the first call."""

import subprocess
import sys

import pytest

# Every file that is opened once all is warm would have made the first caller wait.
WATCHED = """
import sys
from datetime import UTC, datetime
from uuid import uuid4
from rearview.language.analyzer import RuleAnalyzer
from rearview.language.facts import RuleFactExtractor, load_attributes
from rearview.language.keyword_hashes import KeywordHashes
from rearview.language.query_reader import LanguageQueryReader
from rearview.language.warm_up import warm_up_analysis, warm_up_queries

now = datetime.now(UTC)
opened = []
sys.addaudithook(lambda event, given: opened.append(given[0]) if event == "open" else None)


def analyses():
    analyzer = RuleAnalyzer(RuleFactExtractor(load_attributes(None)))
    return lambda: warm_up_analysis(analyzer, now), lambda text: analyzer.analyze(text, reference=now)


def queries():
    reader, hasher = LanguageQueryReader(), KeywordHashes()

    def read(text):
        reader.read(text, reference=now)
        hasher.keywords(uuid4(), text)

    return lambda: warm_up_queries(reader, hasher, now), read


warm_up, work = {}()
warm_up()
assert opened, "nothing was loaded: the warm-up is of no use, or not seen"
opened.clear()
for text in ("上周五王芳说她要去杭州出差，酒店 600 元。", "Bob told me yesterday that his office in Leeds is small."):
    work(text)
assert not opened, opened
"""


@pytest.mark.parametrize("part", ["analyses", "queries"])
def test_the_first_text_waits_for_no_file(part: str) -> None:
    watched = WATCHED.replace("{}", part, 1)
    ended = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
