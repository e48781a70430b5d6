"""Rearview: hindsight for LLM agents."""
