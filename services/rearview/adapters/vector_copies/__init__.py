"""Copies of vectors in memory, as numbers of eight bits."""
