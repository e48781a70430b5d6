"""The retriever's configuration: all problems at once, no secret shown."""

import pytest

from rearview.retriever.__main__ import main
from rearview.retriever.config import RetrieverConfig

GOOD = {
    "REARVIEW_DATABASE_URL": "postgresql://rearview_service:pw-of-db@localhost/rearview",
    "REARVIEW_REDIS_URL": "redis://:pw-of-redis@localhost:6379/0",
    "REARVIEW_INTERNAL_KEY": "k" * 32,
}


def test_defaults_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GOOD.items():
        monkeypatch.setenv(name, value)
    config = RetrieverConfig()  # type: ignore[call-arg]
    assert config.reranker == "none"
    assert "pw-of" not in repr(config)
    assert "kkkk" not in repr(config)


def test_every_bad_value_is_told_and_none_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in GOOD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REARVIEW_INTERNAL_KEY", "short-secret")
    monkeypatch.setenv("REARVIEW_LISTEN", "nowhere")
    monkeypatch.setenv("REARVIEW_RERANKER", "magic:model")
    assert main() == 2
    told = capsys.readouterr().err
    for name in ("DATABASE_URL", "REDIS_URL", "INTERNAL_KEY", "LISTEN", "RERANKER"):
        assert f"REARVIEW_{name}: " in told
    assert "short-secret" not in told


def test_a_service_that_cannot_bind_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in GOOD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REARVIEW_LISTEN", "203.0.113.1:1")
    assert main() == 1
    assert "cannot start" in capsys.readouterr().err
