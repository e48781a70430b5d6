"""Tests of reading transcripts."""
