"""The lines of an export: what they hold, how they are written, and how they are read and checked."""
