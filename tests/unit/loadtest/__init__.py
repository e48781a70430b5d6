"""Tests of the load test's own rules."""
