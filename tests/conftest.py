"""Fixtures for every test: the real servers, started once per session when the first test asks for them."""

pytest_plugins = ["tests.support.stack"]
