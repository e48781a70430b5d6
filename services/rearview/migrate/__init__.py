"""Brings the database's schema up to date: `python -m rearview.migrate [--phase pre|post|all]`."""
