"""What the chart lets services take holds what they may load: every model at once, and texts to read and to embed."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from helm.tools.generate import CHART

LOADS_EVERYTHING = """
import asyncio, importlib, sys
from pathlib import Path

for module in sys.argv[2:]:
    importlib.import_module(module)
from rearview.adapters.models.registry import EmbedderSettings, open_embedder
from rearview.domain.text import PiiCategory
from rearview.language.pii import PatternRedactor

texts = ["李雷在华为技术有限公司工作，电话 13812345678。" * 5, "Anna Schmidt has moved to Lisbon. " * 5]
for text in texts:
    assert PatternRedactor().redact(text, tuple(PiiCategory)).spans

async def embed():
    embedder = open_embedder(EmbedderSettings(models_dir=Path(sys.argv[1])))
    await embedder.embed_passages(texts * 64)
    await embedder.close()

asyncio.run(embed())
# Not getrusage: its peak is inherited from the process that started this one.
print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM:')))
"""
SHARE = 0.75
"""Of a limit, what models may take; the rest is for batches, segments and connections."""


def limit(service: str) -> int:
    """The chart's limit of a service's memory, in KiB."""
    memory = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))[service]["resources"]["limits"]["memory"]
    number, unit = int(memory[:-2]), memory[-2:]
    return number * {"Mi": 1024, "Gi": 1024**2}[unit]


def test_all_models_at_once_fit_in_the_limits(models_dir: Path, e5_folder: Path) -> None:
    services = ("lifecycle", "writer")
    ended = subprocess.run(
        [sys.executable, "-c", LOADS_EVERYTHING, models_dir, *(f"rearview.{service}.app" for service in services)],
        env={**os.environ, "PYTHONPATH": str(CHART.parents[1] / "services")},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) < SHARE * min(map(limit, services))
