"""Logs, metrics and traces. None of them ever holds content, and metrics carry no tenant or namespace."""
