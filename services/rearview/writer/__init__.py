"""The writer: appends, indexes, remembers, changes and forgets."""
