"""Tests of what measures quality."""
