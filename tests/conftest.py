"""For every test: the real servers, started when the first test asks for them, and one folder for built models.

`REARVIEW_TEST_PROFILE=thorough` has hypothesis try ten times as many examples.
"""

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=50, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("REARVIEW_TEST_PROFILE", "quick"))


@pytest.fixture(scope="session", autouse=True)
def shared_models() -> Iterator[None]:
    """Whatever starts in this session, stacks included, finds the model that the first of them has built."""
    if "REARVIEW_MODEL_DIR" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="rearview-models-") as folder:
        os.environ["REARVIEW_MODEL_DIR"] = folder
        yield
        del os.environ["REARVIEW_MODEL_DIR"]


pytest_plugins = ["tests.support.stack"]
