"""Backups of a whole stack: taken while it runs, checked, and restored into an empty data folder."""
