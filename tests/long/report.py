"""What long runs found out, for people: a file of JSON, named by REARVIEW_EXCHANGE_REPORT."""

import json
import os
from pathlib import Path


def report(name: str, figures: object) -> None:
    """Add figures under a name to the report, if one is wanted."""
    file = os.environ.get("REARVIEW_EXCHANGE_REPORT")
    if not file:
        return
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**told, name: figures}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
