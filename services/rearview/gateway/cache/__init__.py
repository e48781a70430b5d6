"""Answers that are given again."""
