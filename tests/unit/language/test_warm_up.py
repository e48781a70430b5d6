"""The writer loads its dictionaries when it starts, not with the first call."""

import subprocess
import sys

WATCHED = """
import time
from datetime import UTC, datetime
from rearview.language.analyzer import RuleAnalyzer
from rearview.language.facts import RuleFactExtractor, load_attributes
from rearview.language.warm_up import warm_up_analysis
now = datetime.now(UTC)
analyzer = RuleAnalyzer(RuleFactExtractor(load_attributes(None)))
warm_up_analysis(analyzer, now)
started = time.process_time()
for text in ("上周五王芳说她要去杭州出差，酒店 600 元。", "Bob told me yesterday that his office in Leeds is small."):
    analyzer.analyze(text, reference=now)
print(time.process_time() - started)
"""


def test_the_first_text_waits_for_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, timeout=120, check=True)
    assert float(ended.stdout) < 0.2
