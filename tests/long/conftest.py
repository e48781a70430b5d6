"""Runs too long for every day, on the stack of the acceptance tests; each has a target of its own in the Makefile."""

from tests.acceptance.conftest import admin, endpoints, stack, traces

__all__ = ["admin", "endpoints", "stack", "traces"]
